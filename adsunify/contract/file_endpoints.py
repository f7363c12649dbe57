"""The rows of the contract table for campaigns as a file."""

from __future__ import annotations

from adsunify import answers

from . import requests
from .endpoint import Endpoint

FILE_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        "/accounts/{accountId}/entities",
        "Campaigns as a file",
        "accounts",
        "entities",
        "The entities of an account as a file names them",
        list[answers.WantedEntity],
    ),
    Endpoint(
        "POST",
        "/diff",
        "Campaigns as a file",
        "files",
        "diff",
        "Compare a file with the networks",
        answers.Diff,
        body=requests.DesiredDocument,
        allows_frozen=True,
    ),
    Endpoint(
        "POST",
        "/apply",
        "Campaigns as a file",
        "files",
        "apply",
        "Prepare what differs between a file and the networks",
        answers.ChangeSet,
        access="write",
        body=requests.ApplyDocument,
        status=201,
        takes_idempotency_key=True,
    ),
)
"""The endpoints of docs/spec.md, "Campaigns as a file"."""
