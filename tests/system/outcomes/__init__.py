"""Outcomes in their full size: ``nox -s outcomes``. The other sessions run a short form."""

from __future__ import annotations

import os

IS_LONG = os.environ.get("ADSUNIFY_OUTCOMES") == "long"
