"""Schemathesis asks for what exists, too: most well-formed ids become real ones, and some briefs good ones.

What is replaced was well formed before and is so after it, so a case stays as good or as bad as it was made. What a
case becomes depends on what it was made of, and on nothing else: a failure is found again.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import requests
import schemathesis

WORLD = json.loads(Path(os.environ["CONFORMANCE_WORLD"]).read_text())
UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
NETWORK = re.compile("[a-z]{1,20}")
RESOURCE = re.compile("[A-Za-z_]+(:[A-Za-z0-9_-]+)?")
NEVER = "00000000-0000-7000-8000-000000000000"
KINDS = {"campaigns": "campaign", "ad-groups": "adGroup", "ads": "ad"}
MOST_WEBHOOKS = 5
EDITS = ({"name": "Chairs, renamed"}, {"budget": "25.00"}, {"bid": "1.50"}, {"name": "Chairs", "budget": "30"})
FIELDS = ("budget", "bid", "spendCap")
MUTATIONS = {
    "delete": {"entityId": "1"},
    "status": {"entityId": "1", "status": "paused"},
    "edit": {"entityId": "1", "edit": {"fields": EDITS[0]}},
}
"""What actions take besides the kind."""
SCHEMA_CODES = {
    *("required", "unknown_property", "wrong_type", "not_a_choice", "malformed", "malformed_json", "out_of_range"),
    *("too_short", "too_long", "too_few", "too_many", "length", "invalid"),
}
"""Codes of refusals that a schema can say: what the document allows is never refused with them, ..."""
BEYOND_SCHEMAS = "|".join(
    (
        "cursor malformed",  # it is signed
        "Idempotency-Key malformed",  # bytes that are no UTF-8
        "(.*[.])?ageMax out_of_range",  # not below ageMin
        "campaign[.](budget[.]amount|bid) out_of_range",  # zero
        "currency (required|unknown_currency)",  # a rule has amounts; not a code of ISO 4217
        "(maxBid|.*[.](daily|lifetime)) too_large",  # above 10^12
        "name blank",
        "(blockedActions|scope)[.].* (duplicate|not_found|not_a_choice)",  # what a rule names exists
        "scope[.]accountIds required",  # entityIds are of one account
        "campaign[.].* unknown_country",  # not a code of ISO 3166-1
        "campaign[.].* blank",  # a text without a visible character
        "campaign[.]schedule[.]endAt out_of_range",  # not after startAt
        "(username|password|apiKey|clientId|teamId|keyId|privateKey) malformed",  # a network's own form
        "(edit)? required",  # an edit of nothing
        "(entityId|payload|status|edit) required",  # a mutation's members depend on its action
        "(?s:document[.].*)",  # a document of campaigns in Git, which docs/campaigns_in_git.md describes
        "((?s:urlParameters[.].*)|nameTemplate) malformed",  # braces that are no placeholder
    )
)
"""... but for these, by path and code: rules that span members."""
WITHOUT_SECONDS = re.compile(r".+T\d\d:\d\d(Z|[+-]\d\d:\d\d)")
"""An instant of ISO 8601, which is accepted, and no ``date-time`` of RFC 3339."""
PREPARED = ("EnsureResourceAvailability", "UseAfterFree")
NATIVE = re.compile("/accounts/[{]accountId[}]/(campaigns|ad-groups|ads)")
"""There, what is made or deleted is so at the network, and not before the operation is executed."""
_created_counts = {"webhooks": 0}


_place = {"of": ""}


def number(value: object) -> int:
    """A number that depends on the value and on the operation that is called only."""
    return zlib.crc32(json.dumps([_place["of"], value], sort_keys=True, default=str).encode())


def most(known: Sequence[Any], value: Any) -> Any:
    """Most values become one of these, where there are any."""
    return known[number(value) // 4 % len(known)] if known and number(value) % 4 else value


def real(name: str, value: Any, account: str | None = None) -> Any:
    """Most of the well-formed ids become real ones; of an account's create operations, its own."""
    if not isinstance(value, str) or not UUID.fullmatch(value):
        return value
    known = WORLD["ids"].get(name, [])
    if name == "sourceOperationId" and account in WORLD["ids"]["accountId"]:
        known = [known[WORLD["ids"]["accountId"].index(account)]]
    return most(known, value)


def entity(account: Any, kind: Any, value: Any) -> Any:
    """Most of the native ids become ids of this account, where it has any of this kind."""
    if not isinstance(value, str) or not value or not isinstance(account, str) or not isinstance(kind, str):
        return value
    return most(WORLD["entities"].get(account, {}).get(kind, []), value)


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: Any) -> None:
    """Real ids in path and body; and what the whole run needs is left alone."""
    _place["of"] = f"{case.method} {case.path}"
    if case.meta is None or case.meta.phase.name != "stateful":  # there, ids come from answers
        _real_path(case)
        _real_body(case)
    _protect_world(case)


def _real_path(case: schemathesis.Case) -> None:
    if any("%" in str(value) for value in case.path_parameters.values()):
        return  # encoded already; a changed value is checked again, in this form
    changed = {name: real(name, value) for name, value in case.path_parameters.items()}
    if "entityId" in changed:
        kind = KINDS[case.path.split("/{entityId}")[0].rpartition("/")[2]]
        changed["entityId"] = entity(changed["accountId"], kind, changed["entityId"])
    if NETWORK.fullmatch(str(changed.get("network", ""))):
        changed["network"] = most(WORLD["networks"], changed["network"])
    if RESOURCE.fullmatch(str(changed.get("resource", ""))):
        changed["resource"] = most(WORLD["resources"].get(str(changed["accountId"]), []), changed["resource"])
    if changed != case.path_parameters:
        case.path_parameters = changed


def _real_body(case: schemathesis.Case) -> None:
    body = case.body
    if not isinstance(body, dict):
        return
    changed = {name: real(name, value) for name, value in body.items()}
    account = changed.get("accountId", case.path_parameters.get("accountId"))
    if isinstance(changed.get("fields"), dict):
        changed = _edit(changed)
    if isinstance(changed.get("action"), str):
        changed = _mutation(changed)
    if isinstance(changed.get("field"), str) and number(changed["field"]) % 2:
        changed["field"] = most(FIELDS, changed["field"])
    if "sourceOperationId" in changed:
        changed["sourceOperationId"] = real("sourceOperationId", body["sourceOperationId"], account)
    if isinstance(changed.get("operationIds"), list):
        changed["operationIds"] = [real("operationId", id_) for id_ in changed["operationIds"]]
    if isinstance(changed.get("entityIds"), list):
        changed["entityIds"] = [entity(account, changed.get("kind"), id_) for id_ in changed["entityIds"]]
    if "entityId" in changed:
        changed["entityId"] = entity(account, changed.get("kind"), changed["entityId"])
    own = WORLD["briefs"].get(account) if isinstance(account, str) else None
    if own is not None and isinstance(changed.get("campaign"), dict):
        changed["campaign"] = _brief(own, changed["campaign"])
    if changed != body:
        case.body = changed


def _brief(own: dict[str, Any], generated: dict[str, Any]) -> dict[str, Any]:
    """What was made, with members of a good brief in the place of those that half of its words are for."""
    return generated | {
        name: value for name, value in own.items() if name in generated and number([name, generated]) % 2
    }


def _edit(generated: dict[str, Any]) -> dict[str, Any]:
    """Half of what was made, and a good edit in the place of the other half."""
    return {"fields": most(EDITS, generated)} if number(generated) % 2 else generated


def _mutation(generated: dict[str, Any]) -> dict[str, Any]:
    """Half of what was made, and in the place of the other half what its action takes, of the same entity."""
    own = MUTATIONS.get(generated["action"])
    if own is None or number(generated) % 2:
        return generated
    return own | {name: generated[name] for name in ("action", "kind", "entityId") if name in generated}


def _protect_world(case: schemathesis.Case) -> None:
    """The key that asks stays and may prepare, accounts stay connected, and webhooks do not become many."""
    if "/guardrails" in case.path and isinstance(case.body, dict) and case.body.get("active", True) is True:
        case.body = case.body | {"active": False}
    if case.method == "DELETE" and case.path_parameters.get("keyId") == WORLD["keyId"]:
        case.path_parameters = {"keyId": NEVER}
    if case.method == "DELETE" and case.path_parameters.get("connectionId") in WORLD["ids"]["connectionId"]:
        case.path_parameters = {"connectionId": NEVER}
    if case.method == "POST" and case.path.endswith("/webhooks") and isinstance(case.body, dict):
        url = case.body.get("url")
        if isinstance(url, str) and number(url) % 2 and _created_counts["webhooks"] < MOST_WEBHOOKS:
            _created_counts["webhooks"] += 1
            case.body = case.body | {"url": WORLD["target"], "events": ["sync.failed"]}


@schemathesis.hook
def filter_failure(context: schemathesis.HookContext, failure: Any, case: schemathesis.Case, response: Any) -> bool:
    """What the document allows may still be refused: by the network, or for a reason that no schema can say."""
    if type(failure).__name__ in PREPARED:
        return NATIVE.search(case.path) is None
    if type(failure).__name__ == "AcceptedNegativeData":
        return not any(WITHOUT_SECONDS.fullmatch(str(value)) for value in (case.query or {}).values())
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code not in (400, 422):
        return True
    return response.status_code == 422 and any(map(_in_schemas, _of_no_account(response).get("issues", [])))


def _of_no_account(response: Any) -> Any:
    """The answer to the same request for an account that is not there: what the network's own rules refuse is gone."""
    sent = response.request
    address, body = sent.url, sent.body or b""
    for account in WORLD["accounts"]:
        address = address.replace(account, NEVER)
        body = body.replace(account.encode(), NEVER.encode())
    return requests.request(sent.method, address, data=body, headers=sent.headers, timeout=60).json()


def _in_schemas(issue: dict[str, str]) -> bool:
    if "U+0000" in issue["message"] or "Unicode" in issue["message"]:  # no word of JSON Schema is for those
        return False
    if issue["message"] == "must be an integer.":  # JSON Schema takes 95.0 for an integer, and we do not
        return False
    return issue["code"] in SCHEMA_CODES and not re.fullmatch(BEYOND_SCHEMAS, f"{issue['path']} {issue['code']}")
