"""docs/spec.md, "Endpoints", "Unified campaign brief" and "Limits" as data.

Written off the documents, not off the code. Where a row has a conflict of members (existing content excludes headlines,
native targeting excludes countries), the example is the plain one and the edges stand alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from attrs import evolve, frozen

from adsunify.values.countries import load_country_codes
from tests.networks.samples import get_samples, list_case_folders

from .forms import (
    UUID,
    Fields,
    Form,
    Member,
    amount,
    choice,
    country,
    currency,
    day,
    flag,
    free,
    instant,
    integer,
    language,
    many,
    must_be_true,
    not_empty,
    number,
    page,
    text,
    uri,
    uuid,
)

NETWORKS = [folder.name for folder in list_case_folders()]
EVENTS = [
    "operation.prepared",
    "operation.running",
    "operation.succeeded",
    "operation.unknown",
    "operation.cancelled",
    "account.connected",
    "account.disconnected",
    "account.needs_reauth",
    "account.ads.initial_sync_completed",
    "analytics.synced",
    "sync.failed",
    "campaign.status_changed",
    "ad_group.status_changed",
    "ad.status_changed",
    "rule.triggered",
]
DEFAULT_EVENTS = EVENTS[:5]
KINDS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}
"""The campaign resource's endpoints exist for ad groups and ads, too."""


@frozen
class Row:
    """A row of an endpoint table.

    ``access``: who may (docs/spec.md, "Access"). ``agents``: an OAuth token may call it. ``ignores_key``: an
    idempotency key is accepted and changes nothing. ``pages``: the envelope has a page.
    ``person``: only a signed-in person may call it.
    """

    method: str
    path: str
    status: int = 200
    access: Literal["read", "owner", "write", "admin", "auditor"] = "read"
    body: Fields | None = None
    query: Fields | None = None
    idempotent: bool = False
    ignores_key: bool = False
    agents: bool = True
    pages: bool = False
    person: bool = False
    kind: str = "campaign"

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def ids(self) -> tuple[str, ...]:
        """The path parameters that are uuids: all named ...Id, except entityId."""
        return tuple(parameter for parameter in self.parameters if parameter.endswith("Id") and parameter != "entityId")

    @property
    def members(self) -> tuple[str, ...]:
        """The members of query and body."""
        return tuple(name for fields in (self.query, self.body) if fields is not None for name in fields.members)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def must(form: Form) -> Member:
    return Member(form, required=True)


def may(form: Form, default: Any = None) -> Member:
    return Member(form, default=default)


# -- Unified campaign brief ---------------------------------------------------------------------------------------

COUNTRIES = tuple(sorted(load_country_codes())[:51])
"""51 codes of ISO 3166-1."""
ID = text(1, 250)
BUDGET = Fields(
    {"amount": must(amount), "currency": must(currency), "period": must(choice("daily", "lifetime"))},
    {"amount": "20", "currency": "USD", "period": "daily"},
)
SCHEDULE = Fields(
    {"startAt": must(evolve(instant, good=instant.good[:3])), "endAt": may(evolve(instant, good=instant.good[3:]))},
    {"startAt": "2030-01-15T09:00:00Z"},
)
KEYWORD = Fields(
    {"text": must(text(1, 80)), "match": may(choice("exact", "phrase", "broad"), "exact")}, {"text": "chairs"}
)
TARGETING = Fields(
    {
        "countries": may(many(country, 1, 50, COUNTRIES)),
        "locationIds": may(many(ID, 1, 50, "{}")),
        "keywords": may(many(KEYWORD.form(), None, 50)),
        "native": may(not_empty),
    }
)
CREATIVE = Fields(
    {
        "existingId": may(ID),
        "headline": may(text(1, 300)),
        "body": may(text(1, 3000)),
        "url": may(uri),
        "imageUrl": may(uri),
        "imageHash": may(ID),
        "headlines": may(many(text(1, 30), 3, 15)),
        "descriptions": may(many(text(1, 90), 2, 4)),
    }
)
LOCALE = Fields({"country": must(country), "language": must(language)}, {"country": "US", "language": "en"})
PLATFORM = Fields(
    {
        "euPoliticalAdvertising": may(flag),
        **dict.fromkeys(
            [
                "pageId",
                "boardId",
                "identityId",
                "identityType",
                "fundingInstrumentId",
                "pixelId",
                "conversionEvent",
                "appId",
                "sku",
                "asin",
            ],
            may(ID),
        ),
        "brandName": may(text(1, 100)),
        "locale": may(LOCALE.form()),
        "specialAdCategories": may(many(text(1), None, 10)),
    }
)
BRIEF = Fields(
    {
        "name": must(text(3, 100)),
        "goal": must(choice("traffic", "awareness", "conversions", "app_installs")),
        "budget": must(BUDGET.form()),
        "bid": may(amount),
        "schedule": must(SCHEDULE.form()),
        "targeting": must(TARGETING.form()),
        "creative": must(CREATIVE.form()),
        "platform": may(PLATFORM.form(), {}),
    },
    {
        "name": "Garden chairs",
        "goal": "traffic",
        "budget": BUDGET.example,
        "schedule": SCHEDULE.example,
        "targeting": {"countries": ["US"]},
        "creative": {},
    },
)

# -- the edit body ------------------------------------------------------------------------------------------------

ITEM = Fields(
    {
        "id": must(text(1, 300)),
        "name": must(text(1, 300)),
        "type": may(text(None, 60)),
        "radiusKm": may(number(0, 1000)),
        "meta": may(free),
    },
    {"id": "1", "name": "Austin"},
)
LISTS = ["locations", "excludedLocations", "languages", "interests", "excludedInterests", "devices", "placements"]
"""docs/spec.md, "Edit body"."""
EDIT_TARGETING = Fields(
    {
        **dict.fromkeys(LISTS, may(many(ITEM.form(), None, 500))),
        "ageMin": may(integer(13, 65)),
        "ageMax": may(integer(13, 65)),
        "genders": may(many(choice("female", "male", "unknown"), None, 3, ("female", "male", "unknown", "female"))),
    }
)
FIELDS = Form(
    good=({"x" * 60: "x" * 5000}, {"budget": "20.5", "spendCap": 1.25, "frequencyCap": 3}),
    bad=(
        ({"x" * 61: "1"}, f".{'x' * 60}"),
        ({"name": "x" * 5001}, ".name"),
        *(({"name": value}, ".name") for value in (True, None, [], {})),
        *((value, "") for value in (None, [], "x")),
    ),
)
EDIT = Fields(
    {"fields": may(FIELDS, {}), "targeting": may(EDIT_TARGETING.form()), "creative": may(CREATIVE.form())},
    {"fields": {"name": "Chairs"}},
)

# -- request bodies -----------------------------------------------------------------------------------------------

CAMPAIGN = Fields(
    {"accountId": must(uuid), "campaign": must(BRIEF.form())}, {"accountId": UUID, "campaign": BRIEF.example}
)
ACTIVATE = Fields(
    {"accountId": must(uuid), "sourceOperationId": must(uuid)}, {"accountId": UUID, "sourceOperationId": UUID}
)
KEY = Fields(
    {"name": must(text(1, 80)), "canWrite": may(flag, False), "expiresAt": may(instant)}, {"name": "reporting"}
)
SCOPE_NETWORKS = Form(
    good=(["meta"], NETWORKS),
    bad=(([], ""), (["meta", "meta"], "/1"), (None, ""), ("meta", ""), (["myspace"], "/0"), ([1], "/0")),
)
SCOPE = Fields(
    {
        "networks": may(SCOPE_NETWORKS),
        "accountIds": may(many(uuid, 1, 500, UUID[:-3] + "{:03}")),
    },
    {"networks": ["meta"]},
)
SCOPED_KEY = Fields({**KEY.members, "scope": must(SCOPE.form())}, {"name": "reporting", "scope": SCOPE.example})
AUTHORIZE = Fields(
    {"network": must(choice(*(code for code in NETWORKS if not get_samples(code).credentials)))}, {"network": "meta"}
)
SECRET = text(1)
CREDENTIALS = {
    f"{code}, {', '.join(members)}": Fields(
        {"network": must(choice(code)), **dict.fromkeys(members, must(SECRET))},
        {"network": code, **dict.fromkeys(members, "x")},
    )
    for code in NETWORKS
    for members in get_samples(code).credentials
}
"""The bodies of POST /connections/credentials; what is asked for is in the others' place refused."""
CONFIRM = Fields({"confirmed": must(must_be_true), "allowStale": may(flag, False)}, {"confirmed": True})
SETTLE = Fields(
    {"step": must(text(1, 100)), "verdict": must(choice("applied", "not_applied")), "entityId": may(ID)},
    {"step": "campaign", "verdict": "not_applied"},
)
CONFIRM_MANY = Fields(
    {
        "operationIds": must(many(uuid, 1, 50, UUID[:-2] + "{:02}")),
        "confirmed": must(must_be_true),
        "allowStale": may(flag, False),
    },
    {"operationIds": [UUID], "confirmed": True},
)
NOTHING = Fields({})
CONFIRM_DIGEST = Fields(
    {"confirmed": must(must_be_true), "digest": must(text(1, 100))}, {"confirmed": True, "digest": "0" * 64}
)
PREPARE_AGAIN = Fields({"skipInvalid": may(flag, False)})
CELL_KEY = Form(("a", "x" * 60, "Meta-de_1.0"), tuple((value, "") for value in ("", "x" * 61, "a b", "a/b", None, 1)))
CELL = Fields(
    {
        "accountId": must(uuid),
        "key": may(CELL_KEY),
        "weight": may(integer(1, 10_000)),
        "campaign": may(free),
    },
    {"accountId": UUID},
)
LAUNCH = Fields(
    {
        "name": must(text(3, 100)),
        "campaign": must(free),
        "accounts": must(
            Form(
                tuple([value] for value in CELL.form().good),
                tuple(([value], f"/0{rest}") for value, rest in CELL.form().bad),
            )
        ),
        "networks": may(Form(({}, {"meta": {}}), ((None, ""), ([], ""), ("x", "")))),
        "nameTemplate": may(Form(("{launch} {network} {account} {country}",), (("", ""), (None, ""), (1, "")))),
        "urlParameters": may(Form(({"utm_source": "{network}"},), (({}, ""), (None, ""), ([], "")))),
        "skipInvalid": may(flag, False),
    },
    {"name": "Spring", "campaign": {}, "accounts": [{"accountId": UUID}]},
)
ENTITIES = must(many(ID, 1, 50, "{}"))
BULK_STATUS = Fields(
    {
        "accountId": must(uuid),
        "kind": must(choice(*KINDS)),
        "entityIds": ENTITIES,
        "status": must(choice("active", "paused")),
    },
    {"accountId": UUID, "kind": "campaign", "entityIds": ["1"], "status": "paused"},
)
BULK_EDIT = Fields(
    {
        "accountId": must(uuid),
        "kind": must(choice(*KINDS)),
        "entityIds": ENTITIES,
        "field": must(text(1, 60)),
        "mode": must(choice("set", "increase", "decrease")),
        "value": must(number(0, 1_000_000_000)),
    },
    {"accountId": UUID, "kind": "campaign", "entityIds": ["1"], "field": "budget", "mode": "increase", "value": 10},
)
MUTATION = Fields(
    {
        "action": must(choice("delete")),
        "kind": must(choice(*KINDS)),
        "entityId": must(ID),
    },
    {"action": "delete", "kind": "campaign", "entityId": "1"},
)
"""docs/spec.md, "Mutation"; which members each action takes is tried by :data:`ACTIONS`."""
ACTIONS: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "create": ({"payload": {"name": "x"}}, {"parentId": "1"}),
    "update": ({"entityId": "1", "payload": {"name": "x"}}, {"parentId": "1"}),
    "delete": ({"entityId": "1"}, {}),
    "status": ({"entityId": "1", "status": "paused"}, {}),
    "edit": ({"entityId": "1", "edit": {"fields": {"name": "x"}}}, {}),
}
"""Members that an action requires, and that it takes besides."""
NATIVE = Fields({"payload": must(free), "parentId": may(ID)}, {"payload": {"name": "Chairs"}})
WEBHOOK_URL = "https://hooks.example.com/"
URL = Form(
    good=(WEBHOOK_URL, WEBHOOK_URL.ljust(2000, "x")),
    bad=tuple((value, "") for value in (WEBHOOK_URL.ljust(2001, "x"), "", "hooks", None, 1)),
)
NAMES = Form(
    good=(EVENTS[:1], EVENTS),
    bad=(([], ""), ([*EVENTS, EVENTS[0]], ""), (None, ""), ("x", ""), (["operation.created"], "/0"), ([1], "/0")),
)
WEBHOOK = Fields(
    {"url": must(URL), "accountId": may(uuid), "events": may(NAMES, DEFAULT_EVENTS)},
    {"url": WEBHOOK_URL},
)
LIMIT = Form(
    good=("0", "0.000001", "12.50", "1000000000000", None),
    bad=tuple((value, "") for value in ("", "x", "1e3", "-1", "1.0000001", 5, True, [])),
)
"""An amount; null is no limit."""
LIMITS = Fields({"daily": must(LIMIT), "lifetime": must(LIMIT)}, {"daily": None, "lifetime": "5"})
WINDOW = Fields(
    {"hours": must(integer(1, 744)), "daily": must(LIMIT), "lifetime": must(LIMIT)},
    {"hours": 24, "daily": None, "lifetime": "5"},
)
PERCENT = Form(good=(0, 0.5, 50, 1_000_000), bad=tuple((value, "") for value in (-1, 1_000_001, "50", True)))
RULE_SCOPE = Form(
    good=({}, {"networks": NETWORKS}),
    bad=(({"networks": []}, ".networks"), ({"accountIds": ["x"]}, ".accountIds.0"), ({"x": 1}, ".x"), ("x", "")),
)
ACTIONS_TO_BLOCK = Form(
    good=([], ["create", "activate", "status", "edit", "update", "delete"]),
    bad=((["remove"], ".0"), ("delete", ""), (["delete"] * 7, "")),
)


def nullable(form: Form) -> Form:
    """The form, with null."""
    return Form((*form.good, None), tuple(case for case in form.bad if case[0] is not None))


RULE = {
    "name": must(text(1, 100)),
    "scope": may(RULE_SCOPE, {}),
    "currency": may(nullable(currency)),
    "perOperation": may(nullable(LIMITS.form())),
    "perWindow": may(nullable(WINDOW.form())),
    "approvalAbove": may(nullable(LIMITS.form())),
    "maxIncreasePercent": may(PERCENT),
    "maxBid": may(LIMIT),
    "blockedActions": may(ACTIONS_TO_BLOCK, []),
    "onBreach": may(choice("refuse", "freeze"), "refuse"),
    "otherCurrencies": may(choice("refuse", "allow"), "refuse"),
    "active": may(flag, True),
}
GUARDRAIL = Fields(RULE, {"name": "No new ads", "currency": "USD", "maxIncreasePercent": 100, "active": False})
GUARDRAIL_CHANGE = Fields({name: may(member.form) for name, member in RULE.items()})
"""docs/spec.md, "Guardrails"; what names accounts and credentials is tried by tests/server/test_guardrails.py."""
ALERT_COMMON = {"name": must(text(1, 100)), "scope": may(RULE_SCOPE, {}), "active": may(flag, True)}
ALERT_AMOUNT = Form(tuple(value for value in LIMIT.good if value is not None), LIMIT.bad)
AMOUNT_OF_ALERT = {"amount": must(ALERT_AMOUNT), "currency": must(currency), "days": may(integer(1, 31), 1)}
ALERT = Fields(
    ALERT_COMMON | {"kind": must(choice("spendAbove")), "level": may(choice("account", "campaign"))} | AMOUNT_OF_ALERT,
    {"name": "Too much", "kind": "spendAbove", "amount": "20", "currency": "USD"},
)
ALERT_CHANGE = Fields({name: may(member.form) for name, member in (ALERT_COMMON | AMOUNT_OF_ALERT).items()})
"""docs/spec.md, "Alerts", for an alert of ``spendAbove``; tests/server/test_alerts.py tries the other kinds."""
WEBHOOK_CHANGE = Fields({"url": may(URL), "active": may(flag), "events": may(NAMES)})

# -- queries ------------------------------------------------------------------------------------------------------

WORDS = Form((), ())
OF_NETWORK = Fields({"network": may(evolve(choice(*NETWORKS), bad=(("", ""), ("myspace", ""), ("Meta", ""))))})
REPORTED = evolve(choice("account", "campaign", "adGroup", "ad"), bad=(("", ""), ("keyword", ""), ("Ad", "")))
LAST_DAYS = {"startDate": "2026-01-01", "endDate": "2026-01-01"}
DAYS = {"startDate": must(day), "endDate": must(day), "level": may(REPORTED), "asOf": may(WORDS)}
INSIGHTS = Fields({**DAYS, **dict.fromkeys(("entityIds", "cursor"), may(WORDS))}, LAST_DAYS)
OVERVIEW = Fields({**DAYS, **OF_NETWORK.members, "accountIds": may(WORDS)}, LAST_DAYS)
"""Of ids, cursors and instants: tests/server/test_levels.py, test_overview.py and those of kept figures."""
LIST = Fields(
    {"limit": may(page(1, 100), "50"), **dict.fromkeys(("cursor", "parentId", "status", "search"), may(WORDS))}
)
OPERATIONS = Fields(
    {
        **OF_NETWORK.members,
        "limit": may(page(1, 100)),
        "status": may(evolve(choice("prepared", "running", "succeeded", "unknown", "cancelled"), bad=(("x", ""),))),
        "action": may(evolve(choice("create", "activate", "status", "update", "delete", "edit"), bad=(("x", ""),))),
        **dict.fromkeys(("cursor", "accountId", "createdBy", "since", "until"), may(WORDS)),
    }
)
KINDS_OF_CHANGES = (
    *("prepare", "execute", "receipt", "cancel", "restore", "launch", "change_set"),
    *("verdict", "settlement", "guardrail", "alert", "freeze", "lift"),
    *(
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
    ),
    "delivery",
)
LEDGER = Fields(
    {
        **OF_NETWORK.members,
        "limit": may(page(1, 100), "50"),
        "kind": may(evolve(choice(*KINDS_OF_CHANGES), bad=(("x", ""),))),
        **dict.fromkeys(("cursor", "accountId", "actor", "since", "until"), may(WORDS)),
    }
)
LAUNCHES = Fields({"limit": may(page(1, 100), "50"), "cursor": may(WORDS)})
CATALOG = Fields({"limit": may(page(1, 100), "50"), **dict.fromkeys(("search", "cursor"), may(WORDS))})
"""docs/spec.md, "Catalogs"."""


def native(kind: str) -> Iterator[Row]:
    """The native resource of a level."""
    every = f"/accounts/{{accountId}}/{KINDS[kind]}"
    entity_path = f"{every}/{{entityId}}"
    yield Row("GET", every, query=LIST, pages=True, kind=kind)
    yield Row("POST", every, 201, "write", NATIVE, idempotent=True, kind=kind)
    yield Row("GET", entity_path, kind=kind)
    yield Row("PATCH", entity_path, 201, "write", NATIVE, idempotent=True, kind=kind)
    yield Row("DELETE", entity_path, 201, "write", idempotent=True, kind=kind)
    yield Row("GET", f"{entity_path}/settings", kind=kind)
    yield Row("POST", f"{entity_path}/edit", 201, "write", EDIT, idempotent=True, kind=kind)


DOCUMENT = evolve(free, good=({}, {"entities": []}, {"launches": {}, "name": "shop"}))
DESIRED = Fields({"document": must(DOCUMENT), "delete": may(flag, False)}, {"document": {"entities": []}})
APPLIED = Fields({**DESIRED.members, "skipInvalid": may(flag, False)}, {"document": {"entities": []}})
HOOK = "/webhooks/{webhookId}"
ONE_LAUNCH = "/launches/{launchId}"
CHANGE_SET = "/change-sets/{changeSetId}"
LAUNCH_CHANGES = ("activate", "pause", "undo")
ONE_ALERT = "/alerts/{alertId}"
ONE_GUARDRAIL = "/guardrails/{guardrailId}"
ROWS: tuple[Row, ...] = (
    # Access, keys, grants
    Row("GET", "/auth/verify"),
    Row("GET", "/keys", agents=False),
    Row("POST", "/keys", 201, "admin", KEY, agents=False),
    Row("POST", "/keys/scoped", 201, "admin", SCOPED_KEY, agents=False),
    Row("DELETE", "/keys/{keyId}", access="owner", agents=False),
    Row("GET", "/connected-agents"),
    Row("DELETE", "/connected-agents/{grantId}"),
    # Connections, networks, accounts
    Row("GET", "/connections"),
    Row("POST", "/connections/authorize", 201, "admin", AUTHORIZE),
    Row("POST", "/connections/credentials", 201, "admin", CREDENTIALS["chatgpt, apiKey"]),
    Row("DELETE", "/connections/{connectionId}", access="admin"),
    Row("GET", "/networks"),
    Row("GET", "/networks/{network}"),
    Row("GET", "/accounts", query=OF_NETWORK),
    Row("GET", "/accounts/{accountId}"),
    Row("GET", "/accounts/{accountId}/tree"),
    Row("GET", "/accounts/{accountId}/insights", query=INSIGHTS),
    Row("GET", "/insights", query=OVERVIEW),
    Row("GET", "/accounts/{accountId}/catalogs/{resource}", query=CATALOG, pages=True),
    # Unified campaign workflow
    Row("GET", "/workflows"),
    Row("POST", "/validate-campaign", body=CAMPAIGN, ignores_key=True),
    Row("POST", "/create", 201, "write", CAMPAIGN, idempotent=True),
    Row("POST", "/activate", 201, "write", ACTIVATE, idempotent=True),
    # Operations
    Row("GET", "/operations", query=OPERATIONS),
    Row("GET", "/operations/{operationId}"),
    Row("POST", "/operations/{operationId}/execute", 200, "write", CONFIRM, ignores_key=True),
    Row("POST", "/operations/execute", 200, "write", CONFIRM_MANY, ignores_key=True),
    Row("POST", "/operations/{operationId}/inspect", 200, body=NOTHING, ignores_key=True),
    Row("POST", "/operations/{operationId}/cancel", 200, "write", NOTHING, ignores_key=True),
    Row("POST", "/operations/{operationId}/undo", 201, "write", NOTHING, idempotent=True),
    Row("POST", "/operations/{operationId}/resume", 201, "write", NOTHING, idempotent=True),
    Row("POST", "/operations/{operationId}/settle", 200, "write", SETTLE, person=True),
    Row("POST", "/accounts/{accountId}/validate", body=MUTATION, ignores_key=True),
    # Campaigns as a file
    Row("GET", "/accounts/{accountId}/entities"),
    Row("POST", "/diff", body=DESIRED),
    Row("POST", "/apply", 201, "write", APPLIED, idempotent=True),
    # Launches
    Row("GET", "/launches", query=LAUNCHES, pages=True),
    Row("POST", "/launches", 201, "write", LAUNCH, idempotent=True),
    Row("GET", ONE_LAUNCH),
    *(Row("POST", f"{ONE_LAUNCH}/{word}", 201, "write", NOTHING, idempotent=True) for word in LAUNCH_CHANGES),
    Row("POST", f"{ONE_LAUNCH}/prepare", 201, "write", PREPARE_AGAIN, idempotent=True),
    Row("POST", f"{ONE_LAUNCH}/execute", 202, "write", CONFIRM_DIGEST, ignores_key=True),
    Row("POST", f"{ONE_LAUNCH}/cancel", 200, "write", NOTHING, ignores_key=True),
    Row("GET", CHANGE_SET),
    Row("POST", f"{CHANGE_SET}/execute", 202, "write", CONFIRM_DIGEST, ignores_key=True),
    Row("POST", f"{CHANGE_SET}/cancel", 200, "write", NOTHING, ignores_key=True),
    # Bulk controls; docs/spec.md, "Idempotency": bulk-edit, too
    Row("POST", "/bulk-status", 201, "write", BULK_STATUS, idempotent=True),
    Row("POST", "/bulk-edit", 201, "write", BULK_EDIT, idempotent=True),
    # Native campaign resource, and its twins
    *(row for kind in KINDS for row in native(kind)),
    # Guardrails
    Row("GET", "/guardrails", agents=False),
    Row("POST", "/guardrails", 201, "admin", GUARDRAIL, agents=False),
    Row("GET", "/guardrails/freezes", agents=False),
    Row("DELETE", "/guardrails/freezes/{credential}", access="admin", agents=False),
    Row("GET", ONE_GUARDRAIL, agents=False),
    Row("PATCH", ONE_GUARDRAIL, 200, "admin", GUARDRAIL_CHANGE, agents=False),
    Row("DELETE", ONE_GUARDRAIL, access="admin", agents=False),
    Row("GET", f"{ONE_GUARDRAIL}/usage", agents=False),
    # Alerts
    Row("GET", "/alerts", agents=False),
    Row("POST", "/alerts", 201, "admin", ALERT, agents=False),
    Row("PATCH", ONE_ALERT, 200, "admin", ALERT_CHANGE, agents=False),
    Row("DELETE", ONE_ALERT, access="admin", agents=False),
    # Ledger
    Row("GET", "/ledger", 200, "auditor", query=LEDGER, agents=False, pages=True),
    # Webhooks
    Row("GET", "/webhooks"),
    Row("POST", "/webhooks", 201, "write", WEBHOOK, agents=False),
    Row("PATCH", HOOK, 200, "write", WEBHOOK_CHANGE, agents=False),
    Row("DELETE", HOOK, 200, "write", agents=False),
    Row("POST", f"{HOOK}/test", 202, "write", NOTHING, agents=False),
    Row("GET", f"{HOOK}/deliveries"),
    Row("GET", f"{HOOK}/deliveries/{{deliveryId}}/attempts"),
    Row("POST", f"{HOOK}/deliveries/{{deliveryId}}/redeliver", 202, "write", NOTHING, agents=False),
)
