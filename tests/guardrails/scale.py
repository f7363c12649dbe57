"""How long the suites run: ``ADSUNIFY_GUARDRAILS=long``, as ``nox -s guardrails`` sets it, or the short form."""

from __future__ import annotations

import os

IS_LONG = os.environ.get("ADSUNIFY_GUARDRAILS") == "long"
