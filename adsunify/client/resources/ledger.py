"""The namespace ``ledger``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from adsunify.answers import Account, LedgerEntry
from adsunify.client.pages import Pages
from adsunify.client.resource import Resource
from adsunify.values.network_codes import NetworkCode


class LedgerResource(Resource):
    """The ledger: who changed what, with which credential, and when. Only admins read it."""

    def list(
        self,
        *,
        limit: int = 50,
        account: Account | str | None = None,
        network: NetworkCode | None = None,
        actor: str | None = None,
        kind: Literal[
            "prepare",
            "execute",
            "receipt",
            "cancel",
            "restore",
            "launch",
            "change_set",
            "verdict",
            "settlement",
            "guardrail",
            "alert",
            "freeze",
            "lift",
            "key",
            "grant",
            "consent",
            "connection",
            "account",
            "workspace",
            "membership",
            "invitation",
            "password",
            "webhook",
            "delivery",
        ]
        | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Pages[LedgerEntry]:
        """List the ledger of the workspace, newest first: who changed what, with which credential, and when.

        A page may be short or empty; a ``next_cursor`` means that older rows may follow. ``actor`` is a user's id or a
        credential. ``since`` is included, ``until`` is not. A credential with a scope sees the rows of its accounts and
        networks only. An ``account_id`` that the workspace does not have is 404. Rows are never deleted. `adsunify
        ledger verify` checks their hashes.

        Access: Any credential of an admin, also a read-only one. Not with an agent's access token.

        Args:
            limit: how many rows the server returns at once, 1 to 100.
            account: only rows of this account, or of its id.
            network: only rows of this network.
            actor: only changes by this user, or with this credential; an id.
            kind: only this kind of change.
            since: only rows of this time or later; an instant with a time zone.
            until: only rows before this time; an instant with a time zone.

        Returns:
            An iterator over all rows, of the class LedgerEntry. A row of the ledger.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
        """
        return Pages(
            self._client,
            LedgerEntry,
            "get_ledger",
            {
                "limit": limit,
                "accountId": account,
                "network": network,
                "actor": actor,
                "kind": kind,
                "since": since,
                "until": until,
            },
        )
