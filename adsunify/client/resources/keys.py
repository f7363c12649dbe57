"""The namespace ``keys``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from datetime import datetime

from adsunify.answers import CreatedKey, Key
from adsunify.client.pages import Pages
from adsunify.client.resource import Resource
from adsunify.contract.requests import KeyScope


class KeysResource(Resource):
    """API keys of the workspace."""

    def list(self) -> Pages[Key]:
        """List the workspace's API keys, without their secrets.

        ``scope`` is None for a key that reaches all accounts. A key with a scope lists the keys within its scope only.

        Access: Any valid credential of the workspace. Not with an agent's access token.

        Returns:
            An iterator over all rows, of the class Key. An API key without its secret.

        Raises:
            Forbidden: the credential may not do this.
        """
        return Pages(self._client, Key, "get_keys", {})

    def create(self, *, name: str, can_write: bool = False, expires_at: datetime | None = None) -> CreatedKey:
        """Create an API key.

        Only this response shows its secret.

        The key expires no later than the key that authorizes the call, and has the same scope.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            name: what people call the key.
            can_write: whether the key may prepare and execute changes.
            expires_at: when the key expires; an instant with a time zone.

        Returns:
            A new API key. ``secret`` is shown only in this response.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
        """
        return self._client._request(
            CreatedKey, "post_keys", {"name": name, "canWrite": can_write, "expiresAt": expires_at}
        )

    def create_scoped(
        self, *, name: str, scope: KeyScope, can_write: bool = False, expires_at: datetime | None = None
    ) -> CreatedKey:
        """Create an API key that reaches only some networks or accounts.

        Only this response shows its secret.

        The key gets 404 for everything outside its scope. A scope cannot be changed. The key expires no later than the
        key that authorizes the call, and its scope lies within that key's scope: a member that is left out is copied
        from it.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            name: what people call the key.
            scope: the networks and accounts that the key reaches.
            can_write: whether the key may prepare and execute changes.
            expires_at: when the key expires; an instant with a time zone.

        Returns:
            A new API key. ``secret`` is shown only in this response.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return self._client._request(
            CreatedKey,
            "post_keys_scoped",
            {"name": name, "scope": scope, "canWrite": can_write, "expiresAt": expires_at},
        )

    def revoke(self, key: Key | str) -> Key:
        """Revoke a key that you own, at once.

        Every role may do this. Other keys are unaffected.

        A read-only key can revoke only itself, and a key with a scope only keys within its scope.

        Access: The owner in any role: with a write-enabled credential, or with the key itself. Not with an agent's
        access token.

        Args:
            key: the API key, or its id.

        Returns:
            An API key without its secret.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return self._client._request(Key, "delete_key", {"keyId": key})
