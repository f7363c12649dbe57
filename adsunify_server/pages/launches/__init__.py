"""Pages of launches and change sets: make a launch, see its cells, review and execute what is prepared."""

from __future__ import annotations

from functools import partial

from adsunify_server.pages.request import PageRouter

from .change_set import cancel_change_set, execute_change_set, show_change_set
from .launch import PREPARATIONS, prepare_change_set, show_launch, show_launches
from .making import show_new, submit_new


def add_pages(router: PageRouter) -> None:
    """Add ``/launches``, ``/launches/new``, ``/launches/<id>`` and ``/change-sets/<id>``."""
    router.add_get("/launches", show_launches)
    router.add_get("/launches/new", show_new)
    router.add_post("/launches/new", submit_new)
    router.add_get("/launches/{launchId}", show_launch)
    for word in PREPARATIONS:
        router.add_post(f"/launches/{{launchId}}/{word}", partial(prepare_change_set, word=word))
    router.add_get("/change-sets/{changeSetId}", show_change_set)
    router.add_post("/change-sets/{changeSetId}/execute", execute_change_set)
    router.add_post("/change-sets/{changeSetId}/cancel", cancel_change_set)
