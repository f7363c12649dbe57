"""The ad account that adapters get, and checks that its currency and its time zone are known."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from adsunify.errors import invalid_input


@frozen
class Account:
    """An ad account as an adapter needs it.

    Attributes:
        currency: the ISO 4217 code; None if it is not known.
        timezone: the IANA name; None if it is not known.
        extras: native facts of the account by name. The network's :class:`Extra` rows declare them.
    """

    network: str
    native_id: str
    currency: str | None = None
    timezone: str | None = None
    extras: Mapping[str, str] = field(factory=dict)


def require_currency(account: Account) -> str:
    """Return the account's currency. Raises InvalidInput ``account_currency_unknown`` if it is not known yet."""
    if account.currency is None:
        raise invalid_input(
            "account.currency",
            "account_currency_unknown",
            "The account's currency is not known yet, so nothing that names money can be planned.",
        )
    return account.currency


def require_timezone(account: Account) -> str:
    """Return the account's time zone. Raises InvalidInput ``account_timezone_unknown`` if it is not known yet."""
    if account.timezone is None:
        raise invalid_input(
            "account.timezone",
            "account_timezone_unknown",
            "The account's time zone is not known yet, so no day of the account can be determined.",
        )
    return account.timezone


# -- errors -------------------------------------------------------------------------------------------------------
