"""The codes of the networks as a type. Written by ``nox -s client``."""

from __future__ import annotations

from typing import Literal, NewType

ExternalNetwork = NewType("ExternalNetwork", str)
"""The code of a network whose adapter is in another distribution, which exports its code with this type."""
NetworkCode = (
    Literal[
        "meta",
        "google",
        "tiktok",
        "snapchat",
        "pinterest",
        "linkedin",
        "reddit",
        "amazon",
        "x",
        "chatgpt",
        "apple",
        "outbrain",
    ]
    | ExternalNetwork
)
"""The code of a network."""
