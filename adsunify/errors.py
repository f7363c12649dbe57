"""All exceptions of adsunify.

::

    AdsunifyError
     ├─ InvalidInput              422  the caller's input, or a capability the network does not declare
     │   └─ LookupNeeded          422  a plan needs a read of the network, and no answer for it was given
     ├─ Unauthenticated           401
     ├─ Forbidden                 403
     │   └─ GuardrailRefused          rules of the workspace refuse what the plan would spend; see ``breaches``
     ├─ NotFound                  404
     ├─ Conflict                  409  an idempotency key is bound to another request
     │   └─ ValuesMoved                the network holds other values than an operation wrote; see ``differences``
     ├─ RateLimited               429  too many requests of one caller; see ``retry_after``
     ├─ ProviderError             400  the network refused, or gave no usable answer
     │   ├─ TokenRefused               the token is expired, revoked or invalid
     │   ├─ PermissionRefused          the token lacks a permission
     │   ├─ ProviderNotFound      404  the network has no such entity in this account
     │   ├─ ProviderThrottled          the network asks to wait; see ``retry_after``
     │   └─ ProviderUnreadable         no usable answer: 5xx, not JSON, a member missing, a connection lost
     ├─ OperationError            400  the operation's state forbids it; see ``code``
     │   └─ PlanStale                  values at the network have changed; see ``differences``
     ├─ ServerUnreachable         503  an adsunify server gave no usable answer (raised by clients of a server)
     │   └─ ServerConnectionError      no connection, or no complete response; also a Python ConnectionError
     ├─ StoreError                503  the database is not reachable or refused the statement
     ├─ VaultError                500  a stored secret cannot be decrypted
     └─ MissingExtra              500  a package of an extra is not installed; also a Python ImportError

Each error has ``status`` (the HTTP status of the response), ``code`` (stable, for programs) and ``outcome``. If the
error concerns an operation, it carries the ``operation`` with its receipt, and ``outcome`` describes the whole
operation: ``not_applied`` (certainly no step was applied), ``partly_applied`` (``applied_steps`` names the applied
steps), ``applied`` or ``unknown``. Otherwise ``outcome`` describes the call alone. ``request_id`` is the id under which
a server logged the request (its ``X-Request-Id``); None without a response of a server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

if TYPE_CHECKING:
    from adsunify.answers import Operation

WriteOutcome = Literal["not_applied", "partly_applied", "applied", "unknown"]


class Issue(NamedTuple):
    """One error in the input: its ``path``, a stable ``code``, and a sentence for people.

    A path joins the member names from the top by dots, with list positions as numbers:
    ``targeting.keywords.0.text``. HTTP, MCP, the client, the shell and the pages write it the same way.
    """

    path: str
    code: str
    message: str

    def to_json(self) -> dict[str, str]:
        """The issue as a response shows it."""
        return {"path": self.path, "code": self.code, "message": self.message}


class NativeErrorDetails(NamedTuple):
    """The network's own error: its code, text, request id and HTTP status."""

    code: str | None = None
    message: str | None = None
    request_id: str | None = None
    status: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The error as a response shows it."""
        return {"code": self.code, "message": self.message, "requestId": self.request_id, "status": self.status}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NativeErrorDetails:
        """Read the form of :meth:`to_json`."""
        return cls(value.get("code"), value.get("message"), value.get("requestId"), value.get("status"))


class AdsunifyError(Exception):
    """The base of all errors of this package."""

    status: int = 500
    default_code: ClassVar[str] = "internal_error"
    title: str = "Internal error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        outcome: WriteOutcome = "not_applied",
        operation: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code: str = code or self.default_code
        self.outcome: WriteOutcome = outcome
        self.operation_data = operation
        self.applied_steps: tuple[str, ...] = ()
        self.request_id: str | None = None

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy for another process from the attributes, because the constructors take other arguments."""
        return _make_error_of_class, (type(self), self.args), self.__dict__

    @property
    def operation(self) -> Operation | None:
        """The operation that the error concerns, as the methods of the clients return it; None if no operation does.

        ``operation_data`` is its JSON. Raises ServerUnreachable if the JSON does not have the form of an operation.
        """
        if self.operation_data is None:
            return None
        from adsunify.answers import Operation, parse_answer  # imported late: errors must not import pydantic

        return parse_answer(Operation, self.operation_data, self.outcome)


def _make_error_of_class(kind: type[AdsunifyError], args: tuple[Any, ...]) -> AdsunifyError:
    error = kind.__new__(kind)
    error.args = args
    return error


MAX_ISSUES = 100
"""The maximum number of issues of one error."""
MORE_ISSUES_CODE = "more_issues"
"""The code of the last issue, which gives the number of issues that are not shown."""


class InvalidInput(AdsunifyError):
    """The input is refused. ``issues`` lists every error in it. Nothing was stored or written.

    At most :data:`MAX_ISSUES` issues are kept; the last one gives the number of the others. ``omitted`` is the number
    of issues that the caller left out of ``issues``.
    """

    status = 422
    default_code = "invalid_input"
    title = "Invalid input"

    def __init__(self, issues: Sequence[Issue], *, code: str | None = None, omitted: int = 0) -> None:
        self.issues = _limit_issues(issues, omitted)
        sentences = (f"{issue.path}: {issue.message}" if issue.path else issue.message for issue in self.issues)
        super().__init__(" ".join(sentences), code=code)


def _limit_issues(issues: Sequence[Issue], omitted: int) -> tuple[Issue, ...]:
    if not omitted and len(issues) <= MAX_ISSUES:
        return tuple(issues)
    distinct = [issue for issue in issues if issue.code != MORE_ISSUES_CODE]
    omitted += sum(int(issue.message.split()[0]) for issue in issues if issue.code == MORE_ISSUES_CODE)
    omitted += len(distinct) - len(distinct[: MAX_ISSUES - 1])
    return (*distinct[: MAX_ISSUES - 1], Issue("", MORE_ISSUES_CODE, f"{omitted} more issues are not shown."))


def invalid_input(path: str, code: str, message: str) -> InvalidInput:
    """Make an :class:`InvalidInput` with one issue. The caller raises it."""
    return InvalidInput((Issue(path, code, message),))


def raise_if_issues(issues: Iterable[Issue]) -> None:
    """Raise an :class:`InvalidInput` with all issues, if there are any."""
    if collected := tuple(issues):
        raise InvalidInput(collected)


class LookupNeeded(InvalidInput):
    """A plan needs a read of the network, and neither a connection nor a recorded answer was given."""

    default_code = "lookup_needed"


class Unauthenticated(AdsunifyError):
    """The bearer token is missing, invalid, expired or revoked."""

    status = 401
    default_code = "unauthenticated"
    title = "Not authenticated"


class Forbidden(AdsunifyError):
    """The credential or role does not permit the action."""

    status = 403
    default_code = "forbidden"
    title = "Not permitted"


class RuleBreach(NamedTuple):
    """A guardrail that refuses a plan. Amounts are decimal strings in major units of ``currency``.

    ``member`` is the member of the rule, such as ``perOperation.daily``. ``limit`` is its amount, ``used`` the amount
    that its window counts already, ``asked`` the exposure or the budgets of the plan (also ``unbounded`` or
    ``unknown``), and ``fits`` the highest amount that the rule allows. They are None where they do not apply.
    """

    guardrail_id: str
    rule: str
    member: str
    currency: str | None = None
    limit: str | None = None
    used: str | None = None
    asked: str | None = None
    fits: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The breach as a response shows it."""
        return {
            "guardrailId": self.guardrail_id,
            "rule": self.rule,
            "member": self.member,
            "currency": self.currency,
            "limit": self.limit,
            "used": self.used,
            "asked": self.asked,
            "fits": self.fits,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RuleBreach:
        """Read the form of :meth:`to_json`."""
        amounts = (value.get(name) for name in ("currency", "limit", "used", "asked", "fits"))
        return cls(value["guardrailId"], value["rule"], value["member"], *amounts)


class GuardrailRefused(Forbidden):
    """Guardrails of the workspace refuse the plan, or demand that a person executes it. ``breaches`` lists them."""

    default_code = "guardrail_exceeded"
    title = "A guardrail refuses it"

    def __init__(self, message: str, *, breaches: Sequence[RuleBreach], code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.breaches = tuple(breaches)


class NotFound(AdsunifyError):
    """The caller's workspace does not contain the object."""

    status = 404
    default_code = "not_found"
    title = "Not found"


class Conflict(AdsunifyError):
    """The idempotency key is bound to another request, or the present state of the object forbids the change."""

    status = 409
    default_code = "idempotency_conflict"
    title = "Conflict"


class ValuesMoved(Conflict):
    """The network holds other values than an operation wrote, so it is not undone; ``differences`` lists them."""

    default_code = "moved"
    title = "A value changed since the operation wrote it"

    def __init__(self, message: str, *, differences: Sequence[StaleValue]) -> None:
        super().__init__(message, code=self.default_code)
        self.differences = tuple(differences)


class RateLimited(AdsunifyError):
    """One caller sent too many requests; this request was not executed.

    ``retry_after`` is in seconds. ``limit`` is the number of requests that are allowed at once, None if unknown.
    """

    status = 429
    default_code = "rate_limited"
    title = "Too many requests"

    def __init__(self, message: str, *, code: str | None = None, retry_after: float, limit: int | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after
        self.limit = limit


class ProviderError(AdsunifyError):
    """The network refused; ``native`` is its own error."""

    status = 400
    default_code = "provider_rejected"
    title = "The network refused"

    def __init__(
        self,
        message: str,
        *,
        native: NativeErrorDetails | None = None,
        code: str | None = None,
        outcome: WriteOutcome = "not_applied",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code, outcome=outcome)
        self.native = native or NativeErrorDetails()
        self.retry_after = retry_after


class TokenRefused(ProviderError):
    """The network refused the account's token."""

    default_code = "provider_token_refused"


class PermissionRefused(ProviderError):
    """The network account or token lacks a permission."""

    default_code = "provider_permission_refused"


class ProviderNotFound(ProviderError):
    """The network has no such entity in this account, or does not show it to this token.

    ``issues``: the missing entities, if the caller requested several.
    """

    status = 404
    default_code = "provider_not_found"
    title = "Not found at the network"

    def __init__(
        self,
        message: str,
        *,
        native: NativeErrorDetails | None = None,
        code: str | None = None,
        outcome: WriteOutcome = "not_applied",
        retry_after: float | None = None,
        issues: Sequence[Issue] = (),
    ) -> None:
        super().__init__(message, native=native, code=code, outcome=outcome, retry_after=retry_after)
        self.issues = tuple(issues)


class ProviderThrottled(ProviderError):
    """The network asks to wait: ``retry_after`` seconds, None if it gave no time."""

    default_code = "provider_throttled"


class ProviderUnreadable(ProviderError):
    """The network gave no usable answer to a read."""

    default_code = "provider_unreadable"


class RequestNotSent(ProviderUnreadable):
    """No byte of the request left this machine. ``repeatable``: another attempt may succeed."""

    default_code = "not_sent"

    def __init__(self, message: str, *, repeatable: bool = True) -> None:
        super().__init__(message)
        self.repeatable = repeatable


class ResponseLost(ProviderUnreadable):
    """The request may have been sent, and no complete response arrived. Its outcome is unknown.

    ``native.status`` and ``headers`` (names in lower case) hold the part of the response that arrived. ``repeatable``:
    a read may be sent again; False if the response itself was faulty.
    """

    default_code = "connection_lost"

    def __init__(
        self, message: str, status: int | None = None, headers: Mapping[str, str] | None = None, repeatable: bool = True
    ) -> None:
        super().__init__(message, native=NativeErrorDetails(message=message, status=status), outcome="unknown")
        self.headers = headers or {}
        self.repeatable = repeatable


class OperationError(AdsunifyError):
    """The state of the operation forbids the action. Its receipt shows what was written. ``retry_after``: seconds."""

    status = 400
    default_code = "operation_refused"
    title = "The operation cannot do this"

    def __init__(
        self,
        message: str,
        *,
        code: str,
        operation: Mapping[str, Any] | None = None,
        native: NativeErrorDetails | None = None,
        outcome: WriteOutcome = "not_applied",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code, outcome=outcome, operation=operation)
        self.native = native
        self.retry_after = retry_after


class StaleValue(NamedTuple):
    """A value at the network that differs from the value that a plan depends on.

    ``member`` is a field such as ``budget``, ``entity`` if the entity is gone, or else a native pointer into the write,
    which would set another value now. ``currency`` is the currency of an amount, else None.
    """

    kind: str
    entity_id: str
    member: str
    planned: Any
    found: Any
    currency: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The value as a response shows it."""
        members = self._asdict()
        return {"kind": members.pop("kind"), "entityId": members.pop("entity_id"), **members}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> StaleValue:
        """Read the form of :meth:`to_json`."""
        planned, present, currency = (value.get(name) for name in ("planned", "found", "currency"))
        return cls(value["kind"], value["entityId"], value["member"], planned, present, currency)


class PlanStale(OperationError):
    """Values at the network differ from the values that the plan depends on; ``differences`` lists them."""

    default_code = "plan_stale"
    title = "A value changed since the plan was made"

    def __init__(self, message: str, *, differences: Sequence[StaleValue]) -> None:
        super().__init__(message, code=self.default_code)
        self.differences = tuple(differences)


class ServerUnreachable(AdsunifyError):
    """An adsunify server is down or too slow, the connection was lost, or another program answers at its address.

    ``outcome`` is ``not_applied`` if the request certainly did not reach the server or only reads, else ``unknown``.
    """

    status = 503
    default_code = "server_unreachable"
    title = "The adsunify server gave no usable answer"


class ServerConnectionError(ServerUnreachable, ConnectionError):
    """No connection to an adsunify server could be made, or its complete response did not arrive in time."""


class StoreError(AdsunifyError):
    """The database is not reachable or refused a statement. The caller can read again to see what was stored."""

    status = 503
    default_code = "store_unavailable"
    title = "Storage unavailable"


class VaultError(AdsunifyError):
    """A stored secret cannot be decrypted: its key is not in the ring, or the stored bytes were altered."""

    default_code = "vault_error"
    title = "A stored secret cannot be decrypted"


class MissingExtra(AdsunifyError, ImportError):
    """The feature needs a package that is not installed. An extra of adsunify installs it."""

    default_code = "missing_extra"
    title = "A package is not installed"


EXTRA_BY_PACKAGE: Mapping[str, str] = {
    "alembic": "store",
    "cryptography": "store",
    "sniffio": "store",
    "sqlalchemy": "store",
    "asyncpg": "postgres",
    "aiohttp": "server",
    "jinja2": "server",
    "prometheus_client": "server",
    "click": "cli",
    "rich": "cli",
    "yaml": "cli",
    "opentelemetry": "otel",
    "pyarrow": "arrow",
    "pandas": "pandas",
    "polars": "polars",
}
"""The packages that ``pip install adsunify`` does not install, by their import name, and the extra that does."""


@contextmanager
def explain_missing_packages() -> Iterator[None]:
    """Raise MissingExtra if an import in the ``with`` block fails because an extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as problem:
        package = (problem.name or "").partition(".")[0]
        if package not in EXTRA_BY_PACKAGE:
            raise
        text = f"This needs {package}, which is not installed: pip install 'adsunify[{EXTRA_BY_PACKAGE[package]}]'."
        raise MissingExtra(text) from problem
