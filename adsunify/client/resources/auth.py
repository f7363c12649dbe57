"""The namespace ``auth``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.answers import Verified
from adsunify.client.resource import Resource


class AuthResource(Resource):
    """The credential of this client."""

    def verify(self) -> Verified:
        """Describe the current credential: its workspace, its role, its scope, whether it may write, and its expiry.

        ``scope`` is None where the credential reaches all accounts of the workspace. ``role`` is ``ads_mcp`` for an
        agent's access token. Such a token also names its grant and its client; ``grant_expires_at`` is the time at
        which the grant ends and no refresh is possible any more.

        Access: Any valid credential of the workspace.

        Returns:
            The credential of this request. For an agent's access token, its grant and its client are included.
        """
        return self._client._request(Verified, "get_auth_verify", {})
