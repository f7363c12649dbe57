"""The namespace ``guardrails``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from adsunify.answers import FrozenCredential, Guardrail, GuardrailUsage
from adsunify.client.inputs import OMITTED, Omitted
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource
from adsunify.models.guardrail import GuardedAction, RuleScope, SpendLimits, SpendWindow


class AsyncGuardrailsResource(AsyncResource):
    """Rules that bound what may be spent, their usage, and frozen credentials."""

    def list(self) -> AsyncPages[Guardrail]:
        """List the guardrails of the workspace, oldest first, including inactive ones.

        Access: Any valid credential of the workspace. Not with an agent's access token.

        Returns:
            An iterator over all rows, of the class Guardrail. A rule that bounds what may be spent. ``version`` counts
            its changes, from 1.

        Raises:
            Forbidden: the credential may not do this.
        """
        return AsyncPages(self._client, Guardrail, "get_guardrails", {})

    async def create(
        self,
        *,
        name: str,
        scope: RuleScope | None = None,
        currency: str | None = None,
        per_operation: SpendLimits | None = None,
        per_window: SpendWindow | None = None,
        approval_above: SpendLimits | None = None,
        max_increase_percent: Decimal | int | None = None,
        max_bid: str | None = None,
        blocked_actions: Sequence[GuardedAction] = (),
        on_breach: Literal["refuse", "freeze"] = "refuse",
        other_currencies: Literal["refuse", "allow"] = "refuse",
        active: bool = True,
    ) -> Guardrail:
        """Create a guardrail.

        It applies at once: operations that are prepared already are checked again when executed.

        All matching guardrails apply. A guardrail matches the account, the network, and the credential that prepares or
        executes. ``freeze`` also freezes the credential that breaks the guardrail.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            name: what people call the rule.
            scope: the accounts and credentials that the rule applies to; all by default.
            currency: the currency of the amounts, such as ``EUR``.
            per_operation: what one operation may expose or plan.
            per_window: what all operations together may expose in a number of hours.
            approval_above: a signed-in person must execute an operation that exposes or plans more.
            max_increase_percent: by how many percent a budget may grow over its lowest value of the last 24 hours.
            max_bid: the highest bid, as a decimal string in major units.
            blocked_actions: actions that the rule refuses.
            on_breach: ``freeze`` also freezes the credential that breaks the rule.
            other_currencies: whether accounts in other currencies are refused; nothing is converted.
            active: False suspends the rule.

        Returns:
            A rule that bounds what may be spent. ``version`` counts its changes, from 1.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
        """
        return await self._client._request(
            Guardrail,
            "post_guardrails",
            {
                "name": name,
                "scope": scope,
                "currency": currency,
                "perOperation": per_operation,
                "perWindow": per_window,
                "approvalAbove": approval_above,
                "maxIncreasePercent": max_increase_percent,
                "maxBid": max_bid,
                "blockedActions": blocked_actions,
                "onBreach": on_breach,
                "otherCurrencies": other_currencies,
                "active": active,
            },
        )

    def freezes(self) -> AsyncPages[FrozenCredential]:
        """List the credentials that guardrails have frozen, oldest first.

        Access: Any valid credential of the workspace. Not with an agent's access token.

        Returns:
            An iterator over all rows, of the class FrozenCredential. A credential that a rule has frozen. It reads and
            cancels; it neither prepares nor executes.

        Raises:
            Forbidden: the credential may not do this.
        """
        return AsyncPages(self._client, FrozenCredential, "get_guardrails_freezes", {})

    async def lift(self, credential: FrozenCredential | str) -> FrozenCredential:
        """Lift the freeze of a credential, which can then prepare and execute again.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            credential: the frozen credential, or its identity.

        Returns:
            A credential that a rule has frozen. It reads and cancels; it neither prepares nor executes.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(FrozenCredential, "delete_guardrails_freeze", {"credential": credential})

    async def get(self, guardrail: Guardrail | str) -> Guardrail:
        """Return one guardrail.

        Access: Any valid credential of the workspace. Not with an agent's access token.

        Args:
            guardrail: the rule, or its id.

        Returns:
            A rule that bounds what may be spent. ``version`` counts its changes, from 1.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Guardrail, "get_guardrail", {"guardrailId": guardrail})

    async def update(
        self,
        guardrail: Guardrail | str,
        *,
        name: str | None = None,
        scope: RuleScope | None = None,
        currency: str | Omitted | None = OMITTED,
        per_operation: SpendLimits | Omitted | None = OMITTED,
        per_window: SpendWindow | Omitted | None = OMITTED,
        approval_above: SpendLimits | Omitted | None = OMITTED,
        max_increase_percent: Decimal | int | Omitted | None = OMITTED,
        max_bid: str | Omitted | None = OMITTED,
        blocked_actions: Sequence[GuardedAction] | None = None,
        on_breach: Literal["refuse", "freeze"] | None = None,
        other_currencies: Literal["refuse", "allow"] | None = None,
        active: bool | None = None,
    ) -> Guardrail:
        """Change a guardrail.

        Members that are given replace the present ones; None removes a limit.

        The window keeps its counts, unless the currency changes: then it begins empty.

        A request that changes the guardrail at the same time gets 409 ``guardrail_changed``.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            guardrail: the rule, or its id.
            name: what people call the rule.
            scope: the accounts and credentials that the rule applies to; all by default.
            currency: the currency of the amounts, such as ``EUR``.
            per_operation: what one operation may expose or plan.
            per_window: what all operations together may expose in a number of hours.
            approval_above: a signed-in person must execute an operation that exposes or plans more.
            max_increase_percent: by how many percent a budget may grow over its lowest value of the last 24 hours.
            max_bid: the highest bid, as a decimal string in major units.
            blocked_actions: actions that the rule refuses.
            on_breach: ``freeze`` also freezes the credential that breaks the rule.
            other_currencies: whether accounts in other currencies are refused; nothing is converted.
            active: False suspends the rule.

        Returns:
            A rule that bounds what may be spent. ``version`` counts its changes, from 1.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(
            Guardrail,
            "patch_guardrail",
            {
                "guardrailId": guardrail,
                "name": name,
                "scope": scope,
                "currency": currency,
                "perOperation": per_operation,
                "perWindow": per_window,
                "approvalAbove": approval_above,
                "maxIncreasePercent": max_increase_percent,
                "maxBid": max_bid,
                "blockedActions": blocked_actions,
                "onBreach": on_breach,
                "otherCurrencies": other_currencies,
                "active": active,
            },
        )

    async def delete(self, guardrail: Guardrail | str) -> Guardrail:
        """Delete a guardrail and the counts of its window.

        Credentials that it has frozen stay frozen.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            guardrail: the rule, or its id.

        Returns:
            A rule that bounds what may be spent. ``version`` counts its changes, from 1.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Guardrail, "delete_guardrail", {"guardrailId": guardrail})

    async def usage(self, guardrail: Guardrail | str) -> GuardrailUsage:
        """Return how full the window of a guardrail is, and the latest operations in it, newest first.

        An operation stays in the window if its outcome is not known or a step of it was applied.

        Access: Any valid credential of the workspace. Not with an agent's access token.

        Args:
            guardrail: the rule, or its id.

        Returns:
            How full the window of a rule is, and the operations in it. A rule without a window has no ``hours``.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(GuardrailUsage, "get_guardrail_usage", {"guardrailId": guardrail})
