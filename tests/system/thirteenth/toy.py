"""A thirteenth network in a folder of its own: a copy of a network under another code, name and hosts.

A copy has everything that a network needs, and nothing but its three folders: what knows the model by its code does not
know the copy. Its code stands in the middle of the alphabet, the name of an amount does not sound like money, and its
review has a word of its own.
:data:`HOOK` makes the folders part of the packages in every Python process whose path has the folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import adsunify.networks
import adsunify.sandbox.networks
from tests.networks.samples import find_case_folder, list_example_briefs

MODEL, TOY = "reddit", "lagoon"
"""The code of the network that is copied, and that of the copy; the hosts of the model contain its code."""
OTHER_NAMES = {"goal_value": "goal_worth", "REJECTED": "DECLINED"}
"""Native names and words of the model, and those of the copy: as long, and names sorted alike, because recordings hold
them."""
REPOSITORY = Path(__file__).parents[3]
HOOK = '''"""Adds the networks of this folder to the packages, in each process whose path has the folder."""

from pathlib import Path

import adsunify.networks
import adsunify.sandbox.networks
import tests.networks

here = Path(__file__).parent
adsunify.networks.__path__.append(str(here / "adapters"))
adsunify.sandbox.networks.__path__.append(str(here / "simulated"))
tests.networks.__path__.append(str(here / "cases"))
'''


def write_toy(folder: Path) -> None:
    """Write the adapter, the simulated network and the cases of the toy, and the hook, into an empty folder."""
    copy_renamed(Path(adsunify.networks.__path__[0], MODEL), folder / "adapters" / TOY)
    copy_renamed(Path(adsunify.sandbox.networks.__path__[0], MODEL), folder / "simulated" / TOY)
    copy_renamed(find_case_folder(MODEL), folder / "cases" / TOY)
    for path in list_example_briefs(MODEL):
        copy_renamed(path, folder / "cases" / TOY / "briefs" / rename(path.name))
    (folder / "sitecustomize.py").write_text(HOOK)


def copy_renamed(source: Path, target: Path) -> None:
    """Copy a file or a folder; the toy's names take the place of the model's in names and contents."""
    if source.is_dir():
        for path in source.iterdir():
            if path.suffix in ("", ".py", ".json", ".md") and path.name != "__pycache__":
                copy_renamed(path, target / rename(path.name))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(rename(source.read_text()))


def rename(text: str) -> str:
    """The text with the toy's names for those of the model, in each way of writing them."""
    ways = {write(MODEL): write(TOY) for write in (str.lower, str.upper, str.capitalize)} | OTHER_NAMES
    return re.sub("|".join(ways), lambda match: ways[match[0]], text)


def make_environment(folder: Path) -> Mapping[str, str]:
    """The environment of a process that knows the networks of a folder."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(REPOSITORY)])}
