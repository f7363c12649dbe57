"""The namespace ``workflows``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.answers import Workflow
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource


class AsyncWorkflowsResource(AsyncResource):
    """The unified formats of campaigns."""

    def list(self) -> AsyncPages[Workflow]:
        """List the unified formats with their goals, budget periods and inputs.

        Access: Any valid credential of the workspace.

        Returns:
            An iterator over all rows, of the class Workflow. One unified format of a network.
        """
        return AsyncPages(self._client, Workflow, "get_workflows", {})
