"""The rows of the contract table for launches and change sets (docs/spec.md, "Launches")."""

from __future__ import annotations

from collections.abc import Iterator

from adsunify import answers
from adsunify.models.base import ApiModel
from adsunify.models.launch import NewLaunch

from . import requests
from .endpoint import Endpoint

SECTION = "Launches"
PREPARATIONS: tuple[tuple[str, str, type[ApiModel]], ...] = (
    ("activate", "Prepare the activation of a launch", requests.Nothing),
    ("pause", "Prepare the pause of a launch", requests.Nothing),
    ("undo", "Prepare the undo of a launch", requests.Nothing),
    ("prepare", "Prepare cells of a launch anew", requests.PrepareAgain),
)
"""The last word of the path, the summary and the body of the endpoints that prepare a change set of a launch."""


def list_launch_endpoints() -> Iterator[Endpoint]:
    """Yield the endpoints of launches and change sets."""
    yield Endpoint(
        "GET",
        "/launches",
        SECTION,
        "launches",
        "list",
        "List launches",
        list[answers.Launch],
        query=requests.LaunchesQuery,
        is_paged=True,
    )
    yield Endpoint(
        "POST",
        "/launches",
        SECTION,
        "launches",
        "create",
        "Prepare one brief for many accounts",
        answers.Launch,
        access="write",
        body=NewLaunch,
        status=201,
        takes_idempotency_key=True,
    )
    yield Endpoint("GET", "/launches/{launchId}", SECTION, "launches", "get", "One launch", answers.Launch)
    for word, summary, body in PREPARATIONS:
        yield Endpoint(
            "POST",
            f"/launches/{{launchId}}/{word}",
            SECTION,
            "launches",
            word,
            summary,
            answers.ChangeSet,
            access="write",
            body=body,
            status=201,
            takes_idempotency_key=True,
        )
    yield from _list_change_set_endpoints("/launches/{launchId}", "launches", "the open change set of a launch")
    yield Endpoint(
        "GET",
        "/change-sets/{changeSetId}",
        SECTION,
        "change_sets",
        "get",
        "One change set",
        answers.ChangeSet,
    )
    yield from _list_change_set_endpoints("/change-sets/{changeSetId}", "change_sets", "a change set")


def _list_change_set_endpoints(path: str, resource: str, words: str) -> Iterator[Endpoint]:
    yield Endpoint(
        "POST",
        f"{path}/execute",
        SECTION,
        resource,
        "execute",
        f"Execute {words}",
        answers.ChangeSet,
        access="write",
        body=requests.ConfirmDigest,
        status=202,
        ignores_idempotency_key=True,
    )
    yield Endpoint(
        "POST",
        f"{path}/cancel",
        SECTION,
        resource,
        "cancel",
        f"Cancel {words}",
        answers.ChangeSet,
        access="write",
        body=requests.Nothing,
        ignores_idempotency_key=True,
        allows_frozen=True,
    )
