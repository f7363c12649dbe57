"""Google Ads API: addresses, resources, enums and limits, and how queries, writes, errors and delays look.

Sources, for v26 (released 2026-10-14): developers.google.com/google-ads/api, below ``docs/`` (release-notes,
sunset-dates, api-policy/developer-token, api-policy/eu-par, oauth/access-model, account-management/listing-accounts,
mutating/best-practices, mutating/service-mutates, reporting/zero-metrics, best-practices/quotas,
best-practices/understand-api-errors), rest/auth, reference/rpc/v26 and fields/v26/currency_constant; the blog of
2026-09 (end of v22) and 2026-10 (v26). Names, types, enums and comments of fields: PyPI package google-ads 34.0.0.
Examples: github.com/googleads/google-ads-python.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache

from attrs import evolve, field, frozen

from adsunify.adapter.account import Account, require_currency, require_timezone
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import ItemResult, ParsedError, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.errors import invalid_input
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Step
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import to_local_days
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_text, get_value
from adsunify.values.money import MICROS

CODE = "google"
VERSION = "v26"
HOST, CONSENT_HOST, TOKEN_HOST = "googleads.googleapis.com", "accounts.google.com", "oauth2.googleapis.com"
API_URL = f"https://{HOST}/{VERSION}"
LOGIN_HEADER = "login-customer-id"
OPERATIONS, RESPONSES = "mutateOperations", "mutateOperationResponses"
# No developer token is sent: Google has ignored it since 2026-09-09. The access level belongs to the Cloud project of
# the OAuth client (docs/api-policy/developer-token).
LOGIN = OAuth2(
    consent_url=f"https://{CONSENT_HOST}/o/oauth2/v2/auth",
    token_url=f"https://{TOKEN_HOST}/token",
    revoke_url=f"https://{TOKEN_HOST}/revoke",
    scopes=("https://www.googleapis.com/auth/adwords",),
    has_pkce=True,
    consent_extras={"access_type": "offline", "prompt": "consent"},  # with these, each consent returns a refresh token
    exchange_members=split_words("grant_type code client_id client_secret redirect_uri"),
    revoke_members=("token",),
)

ENABLED, PAUSED, REMOVED = "ENABLED", "PAUSED", "REMOVED"
SEARCH, SEARCH_GROUP, SEARCH_AD = "SEARCH", "SEARCH_STANDARD", "RESPONSIVE_SEARCH_AD"
PRESENCE = "PRESENCE"
GEO_TARGET_TYPES = {
    "positiveGeoTargetType": ("PRESENCE_OR_INTEREST", "SEARCH_INTEREST", PRESENCE),
    "negativeGeoTargetType": ("PRESENCE_OR_INTEREST", PRESENCE),
}
CUSTOM_PERIOD = "CUSTOM_PERIOD"
POLITICAL_ADVERTISING = {True: "CONTAINS_EU_POLITICAL_ADVERTISING", False: "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING"}
BID_STRATEGIES = {  # the member of the bidding oneof that a write sets -> the biddingStrategyType that a read returns
    "manualCpc": "MANUAL_CPC",
    "targetSpend": "TARGET_SPEND",
    "maximizeConversions": "MAXIMIZE_CONVERSIONS",
    "maximizeConversionValue": "MAXIMIZE_CONVERSION_VALUE",
    "targetImpressionShare": "TARGET_IMPRESSION_SHARE",
}
# The members of the bidding oneof, and the name under which an edit changes them (PayloadRules). Ad groups hold manual
# bids. Each other member limits a bid only by an amount in this member.
BIDDING_MEMBERS: Mapping[str, tuple[str, ...]] = dict.fromkeys(
    split_words("biddingStrategyType manualCpc targetSpend maximizeConversions maximizeConversionValue targetRoas"), ()
)
CRITERION_TYPES = ("location", "language", "proximity", "device", "adSchedule", "ageRange", "gender", "ipBlock")
CRITERION_OPTIONS = ("negative", "bidModifier")
LOCATION, LANGUAGE = "LOCATION", "LANGUAGE"
LOCATION_PREFIX, LANGUAGE_PREFIX = "geoTargetConstants/", "languageConstants/"
REMOVAL_PLANNED = "REMOVAL_PLANNED"
CONSTANT_PREFIXES = {LOCATION: LOCATION_PREFIX, LANGUAGE: LANGUAGE_PREFIX}

MAX_CAMPAIGN_NAME_LENGTH = 255  # unverified: the longest name of a campaign, in characters
MAX_AD_GROUP_NAME_LENGTH = 254
MAX_HEADLINE_WIDTH, MAX_DESCRIPTION_WIDTH, MAX_PATH_LENGTH = 30, 90, 15  # a double-width character counts as two
HEADLINE_COUNTS, DESCRIPTION_COUNTS = (3, 15), (2, 4)
MAX_KEYWORD_WORDS = 10
INVALID_KEYWORD_CHARACTERS = "!@%,*"  # unverified: Google refuses no other characters in keywords
MAX_URL_LENGTH = 2048  # unverified: the longest final URL, in characters
RESTATED_DAYS = 90  # Help 2544985: a conversion counts on the day of its click, up to 90 days before the conversion

# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    ad advertisingChannelSubType advertisingChannelType campaignBudget/deliveryMethod=STANDARD
    campaignBudget/explicitlyShared campaignBudget/name campaignConversionGoals
    containsEuPoliticalAdvertising finalUrlSuffix geoTargetTypeSetting labels manualCpc/enhancedCpcEnabled=false
    maximizeConversionValue/targetRoas name networkSettings targetRoas/targetRoas trackingUrlTemplate type
    urlCustomParameters
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: micros, in multiples of the billable unit of the account's currency.

    The account's extra ``billableUnitMicros`` holds the billable unit. Without it, the minor unit of ISO 4217 is used.
    """
    return _get_billable_unit(require_currency(account), account.extras.get("billableUnitMicros", ""))


@lru_cache(1024)
def _get_billable_unit(currency: str, known: str) -> MoneyUnit:
    if known and not is_digits(known):
        raise invalid_input(
            "account.extras.billableUnitMicros", "malformed", "The billable unit is a whole number of micros."
        )
    if known:
        return MoneyUnit(MICROS, int(known), "text")
    # unverified: the billable unit of a currency is its minor unit in ISO 4217.
    step = MICROS // 10 ** get_exponent(currency, "account.currency")
    sentence = f"Google's billable unit of {currency} is not known for this account: {step} micros are assumed."
    return MoneyUnit(MICROS, step, "text", sentence)


def get_serving_days(account: Account, brief: CampaignBrief) -> tuple[date, date | None]:
    """Return the first and last day of the campaign in the account's time zone."""
    return to_local_days(brief.schedule.start, brief.schedule.end, require_timezone(account))


def format_day_start(day: date) -> str:
    """Write the first second of a day, at which a Search campaign has to start (Google Ads API, DateError)."""
    return f"{day.isoformat()} 00:00:00"


def format_day_end(day: date) -> str:
    """Write the last second of a day, at which a Search campaign has to end (Google Ads API, DateError)."""
    return f"{day.isoformat()} 23:59:59"


# -- requests -----------------------------------------------------------------------------------------------------

COLLECTIONS: Mapping[str, str] = {
    "campaignBudget": "campaignBudgets",
    "campaign": "campaigns",
    "campaignCriterion": "campaignCriteria",
    "campaignConversionGoal": "campaignConversionGoals",
    "adGroup": "adGroups",
    "adGroupCriterion": "adGroupCriteria",
    "adGroupAd": "adGroupAds",
    "ad": "ads",
}
COMPOSITE_ID_RESOURCES = ("campaignCriterion", "adGroupCriterion", "adGroupAd")
"""The resources whose ID consists of the parent's ID and their own ID, joined by ``~``."""
_match_id_number = re.compile("[1-9][0-9]{0,18}").fullmatch


def is_digits(value: str) -> bool:
    """Return whether the text has the form of Google's IDs: a positive number without leading zeros."""
    return _match_id_number(value) is not None


def build_resource_name(account: Account, resource: str, *ids: str) -> str:
    """Build the name of a resource of this account. A negative ID is temporary: it is valid only within one request."""
    return f"customers/{account.native_id}/{COLLECTIONS[resource]}/{'~'.join(ids)}"


def parse_resource_id(name: str) -> str:
    """Return the ID at the end of a resource name."""
    return name.rpartition("/")[2]


def parse_report_ad_id(row: Mapping[str, Json]) -> str | None:
    """Return the id ``<ad group>~<ad>`` of the ad of a report's row."""
    group, own = get_text(row, "/adGroup/id"), get_text(row, "/adGroupAd/ad/id")
    return None if group is None or own is None else f"{group}~{own}"


def parse_resource_ids(resource: str, value: str, path: str) -> tuple[str, ...]:
    """Return the one or two numbers of an ID. Raises InvalidInput for other text, which must not get into a query."""
    ids = tuple(value.split("~"))
    if len(ids) != (2 if resource in COMPOSITE_ID_RESOURCES else 1) or not all(map(is_digits, ids)):
        form = "<ad group>~<own id>, both" if resource in COMPOSITE_ID_RESOURCES else "made of"
        raise invalid_input(path, "malformed", f"An id of a Google Ads {resource} is {form} digits.")
    return ids


def is_resource_name(account: Account, resource: str, name: Json) -> bool:
    """Return whether this is the name of a resource of this account and type."""
    return isinstance(name, str) and _has_resource_name_form(account.native_id, resource, name)


def _has_resource_name_form(customer: str, resource: str, name: str) -> bool:
    prefix = f"customers/{customer}/{COLLECTIONS[resource]}/"
    ids = name.removeprefix(prefix).split("~")
    return (
        name.startswith(prefix)
        and len(ids) == (2 if resource in COMPOSITE_ID_RESOURCES else 1)
        and all(map(is_digits, ids))
    )


def build_login_headers(account: Account) -> dict[str, str]:
    """Return the header with the manager account that gives access to the account; empty if no manager is known."""
    manager = account.extras.get("loginCustomerId", "").replace("-", "")
    if manager and not is_digits(manager):
        raise invalid_input("account.extras.loginCustomerId", "malformed", "The manager's id is made of digits.")
    return {LOGIN_HEADER: manager} if manager else {}


def build_search_request(account: Account, query: str, cursor: str | None = None) -> Request:
    """Build the request of the first page of a query, or of the page of a cursor. A page has up to 10,000 rows."""
    body = {"query": query} | ({} if cursor is None else {"pageToken": cursor})
    url, path = f"{API_URL}/customers/{{customer}}/googleAds:search", {"customer": account.native_id}
    return Request("POST", url, path, headers=build_login_headers(account), body=body, encoding="json")


def build_mutate_request(account: Account, operations: Iterable[Mapping[str, Json]]) -> Request:
    """Build one atomic write: Google applies all operations or none."""
    body = {"partialFailure": False, "validateOnly": False, OPERATIONS: [dict(operation) for operation in operations]}
    url, path = f"{API_URL}/customers/{{customer}}/googleAds:mutate", {"customer": account.native_id}
    return Request("POST", url, path, headers=build_login_headers(account), body=body, encoding="json", kind="write")


def build_validation_request(request: Request) -> Request:
    """Build the request that only validates what a mutate would do (mutating/service-mutates, "validate only")."""
    return evolve(request, body={**request.body, "validateOnly": True})


def build_operation(resource: str, **content: Json) -> dict[str, Json]:
    """Build one operation. ``content``: ``create``, ``remove``, or ``update`` with its ``updateMask``."""
    return {f"{resource}Operation": content}


def build_update_operation(resource: str, name: str, changed: Mapping[str, Json]) -> dict[str, Json]:
    """Build the operation that changes the members in ``changed``; a member that is None is cleared."""
    update = {"resourceName": name, **_drop_nulls(changed)}
    return build_operation(resource, updateMask=",".join(build_update_mask(changed)), update=update)


def build_update_mask(changed: Mapping[str, Json], before: str = "") -> list[str]:
    """Return the paths of the leaves of an update, in their order. Lists and empty objects are leaves."""
    paths: list[str] = []
    for name, value in changed.items():
        paths += (
            build_update_mask(value, f"{before}{name}.")
            if isinstance(value, Mapping) and value
            else [f"{before}{name}"]
        )
    return paths


def _drop_nulls(value: Mapping[str, Json]) -> dict[str, Json]:
    return {
        name: _drop_nulls(member) if isinstance(member, Mapping) else member
        for name, member in value.items()
        if member is not None
    }


@frozen
class Source:
    """The query that reads a level: its resource, the ID that orders the pages, the parent's ID, and fixed conditions.

    ``live_conditions``: the conditions of a list without a filter by status.
    """

    resource: str
    key: str
    parent: str = ""
    conditions: tuple[str, ...] = ()
    live_conditions: tuple[str, ...] = field(default=(), kw_only=True)


def _build_live_condition(resource: str) -> tuple[str, ...]:
    return (f"{resource}.status != '{REMOVED}'",)


KEYWORD_CONDITIONS = ("ad_group_criterion.type = 'KEYWORD'", "ad_group_criterion.negative = FALSE")
SOURCES: Mapping[str, Source] = {
    "campaign": Source("campaign", "campaign.id", live_conditions=_build_live_condition("campaign")),
    "adGroup": Source("ad_group", "ad_group.id", "campaign.id", live_conditions=_build_live_condition("ad_group")),
    "ad": Source(
        "ad_group_ad", "ad_group_ad.ad.id", "ad_group.id", live_conditions=_build_live_condition("ad_group_ad")
    ),
    "keyword": Source("ad_group_criterion", "ad_group_criterion.criterion_id", "ad_group.id", KEYWORD_CONDITIONS),
}


def build_gaql(
    fields: Sequence[str], resource: str, *conditions: str, order: str = "", limit: int | None = None
) -> str:
    """Build a query in GAQL. Its values are digits, names of enums, or the results of :func:`quote_literal`."""
    query = f"SELECT {', '.join(fields)} FROM {resource}"
    query += f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query += f" ORDER BY {order}" if order else ""
    return query + (f" LIMIT {limit}" if limit is not None else "")


def quote_literal(value: str) -> str:
    """Quote a text as a string of a query."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def build_like_pattern(value: str) -> str:
    """Build the LIKE pattern of texts that contain this one. Raises InvalidInput for control characters."""
    if has_control_characters(value):
        raise invalid_input("search", "malformed", "Text to search for has no control characters.")
    return quote_literal("%" + re.sub(r"[%_\[\]]", lambda match: f"[{match[0]}]", value) + "%")


def has_control_characters(value: str) -> bool:
    """Return whether a text has control characters (category Cc of Unicode)."""
    return _CONTROL_PATTERN.search(value) is not None


_CONTROL_PATTERN = re.compile("[\x00-\x1f\x7f-\x9f]")


# -- answers ------------------------------------------------------------------------------------------------------


def parse_error(response: Response) -> ParsedError | None:
    """Return the error. Its codes are ``category.NAME`` of each error, then the categories, then the status."""
    body = response.body if response.state == "json" else None
    body = get_value(body, "/0") if isinstance(body, list) else body  # the body of a streamed response is a list
    request_id = response.headers.get("request-id")
    error = get_value(body, "/error")
    if isinstance(error, str):  # the error of the token endpoint
        return ParsedError((error,), get_text(body, "/error_description") or error, request_id)
    native = error if isinstance(error, Mapping) else get_value(body, "/partialFailureError")
    if not isinstance(native, Mapping):
        return ParsedError(request_id=request_id) if response.status >= 400 else None
    names: list[str] = []
    sentences: list[str] = []
    for failure in find_values(native, "/details/*/errors/*"):
        kinds = get_value(failure, "/errorCode")
        for kind, name in kinds.items() if isinstance(kinds, Mapping) else ():
            names += [f"{kind}.{name}"] if isinstance(name, str) else []
        place = ".".join(_parse_error_paths(failure))
        sentences.append(f"{get_text(failure, '/message') or ''}{f' (at {place})' if place else ''}".strip())
    sentences = sentences or [get_text(native, "/message") or ""]
    sentences += [ERROR_ADVICE[name] for name in names if name in ERROR_ADVICE]
    status = get_text(native, "/status")
    codes = [*names, *(name.partition(".")[0] for name in names), *([status] if status else [])]
    own = next(
        (
            request_reference
            for request_reference in find_values(native, "/details/*/requestId")
            if isinstance(request_reference, str)
        ),
        request_id,
    )
    return ParsedError(tuple(dict.fromkeys(codes)), " ".join(filter(None, sentences)) or None, own)


ERROR_ADVICE = {
    "mutateError.EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED": (
        "Campaigns of this account say nothing about EU political advertising: declare that for each of them first."
    ),
    "authorizationError.CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION": (
        "The Cloud project that owns the OAuth client has access to test accounts only."
    ),
}


def _parse_error_paths(failure: Json) -> list[str]:
    """Return the path that an error names. A missing index means 0 or no index, so none is added."""
    places: list[str] = []
    for element in find_values(failure, "/location/fieldPathElements/*"):
        places += [part for part in (get_text(element, "/fieldName"), get_text(element, "/index")) if part]
    return places


_match_seconds = re.compile(r"([0-9]{1,8}(\.[0-9]{1,9})?)s").fullmatch


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds until the quota allows another request."""
    delays = find_values(response.body, "/error/details/*/errors/*/details/quotaErrorDetails/retryDelay")
    match = [match.group(1) for delay in delays if isinstance(delay, str) and (match := _match_seconds(delay))]
    return max(map(float, match), default=None)


def parse_item_results(step: Step, request: Request, response: Response) -> Sequence[ItemResult] | None:
    """Return the resource name in the result of each operation. The results have the order of the operations.

    A name is ignored if its type, its account or its resource differs from the operation's.
    """
    operations, answers = get_value(request.body, f"/{OPERATIONS}"), get_value(response.body, f"/{RESPONSES}")
    if not isinstance(operations, list) or not isinstance(answers, list) or len(operations) != len(answers):
        return None
    customer = request.path.get("customer", "")
    return [
        ItemResult(index, _match_written_name(operation, answers[index], customer))
        for index, operation in enumerate(operations)
    ]


def _match_written_name(operation: Json, answer: Json, customer: str) -> str | None:
    member, content = next(iter(operation.items()))
    resource = member.removesuffix("Operation")
    name = get_value(answer, f"/{resource}Result/resourceName")
    if not isinstance(name, str):
        return None
    if "create" in content:
        return name if _has_resource_name_form(customer, resource, name) else None
    return name if name in (content.get("remove"), get_value(content, "/update/resourceName")) else None


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page of a query; None at the end."""
    return get_text(response.body, "/nextPageToken") or None


def merge_rows(native: Mapping[str, Json], other_row: Mapping[str, Json]) -> dict[str, Json]:
    """Merge two rows of the same entity."""
    merged = dict(native)
    for name, value in other_row.items():
        own = merged.get(name)
        merged[name] = merge_rows(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return merged
