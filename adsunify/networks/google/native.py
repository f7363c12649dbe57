"""Google's own words: addresses, resources, enums, countries; and how it says queries, results, errors and waits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from unicodedata import category, east_asian_width

from attrs import field, frozen

from adsunify.brief import CampaignBrief, Keyword
from adsunify.currencies import exponent
from adsunify.errors import refused
from adsunify.money import MICROS
from adsunify.network import Account, Found, ItemAnswer, Unit, currency_of, is_number, timezone_of
from adsunify.schedule import local_days
from adsunify.steps import Step
from adsunify.wire import Json, Request, Response, found_at, read, text

CODE = "google"
VERSION = "v26"
HOST, CONSENT_HOST, TOKEN_HOST = "googleads.googleapis.com", "accounts.google.com", "oauth2.googleapis.com"
API = f"https://{HOST}/{VERSION}"
CONSENT = f"https://{CONSENT_HOST}/o/oauth2/v2/auth"
TOKEN, REVOKE = f"https://{TOKEN_HOST}/token", f"https://{TOKEN_HOST}/revoke"
PERMISSION = "https://www.googleapis.com/auth/adwords"
LOGIN_HEADER = "login-customer-id"
OPERATIONS, RESPONSES = "mutateOperations", "mutateOperationResponses"

ENABLED, PAUSED, REMOVED = "ENABLED", "PAUSED", "REMOVED"
SEARCH, SEARCH_GROUP, SEARCH_AD = "SEARCH", "SEARCH_STANDARD", "RESPONSIVE_SEARCH_AD"
PRESENCE = "PRESENCE"
POSITIVE_GEO = ("PRESENCE_OR_INTEREST", "SEARCH_INTEREST", PRESENCE)
NEGATIVE_GEO = ("PRESENCE_OR_INTEREST", PRESENCE)
CUSTOM_PERIOD = "CUSTOM_PERIOD"
POLITICAL = {True: "CONTAINS_EU_POLITICAL_ADVERTISING", False: "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING"}
STRATEGIES = {  # the member of a campaign's bidding oneof, and the biddingStrategyType that it shows as
    "manualCpc": "MANUAL_CPC",
    "targetSpend": "TARGET_SPEND",
    "maximizeConversions": "MAXIMIZE_CONVERSIONS",
    "maximizeConversionValue": "MAXIMIZE_CONVERSION_VALUE",
    "targetImpressionShare": "TARGET_IMPRESSION_SHARE",
}
CRITERIA = ("location", "language", "proximity", "device", "adSchedule", "ageRange", "gender", "ipBlock")
BESIDE_CRITERIA = ("negative", "bidModifier")
LOCATION, LANGUAGE = "LOCATION", "LANGUAGE"
LOCATIONS, LANGUAGES = "geoTargetConstants/", "languageConstants/"
CONSTANTS = {LOCATION: LOCATIONS, LANGUAGE: LANGUAGES}
RETIRED = "REMOVAL_PLANNED"

CAMPAIGN_NAME = 255  # (unverified)
AD_GROUP_NAME = 254
HEADLINE, DESCRIPTION, PATH = 30, 90, 15  # columns: a double-width character takes two
HEADLINES, DESCRIPTIONS = (3, 15), (2, 4)
KEYWORD_WORDS = 10
KEYWORD_WRONG = "!@%,*"  # (unverified) more may be refused
URL_LENGTH = 2048  # (unverified)
HISTORY_MONTHS = 37
RESTATED_DAYS = 3  # (unverified) "some hours or days"

# Geo target constant = 2000 + ISO 3166-1 numeric. ISO lists more countries than Google Ads can target.
_NUMERIC = """
    AD020 AE784 AF004 AG028 AI660 AL008 AM051 AO024 AQ010 AR032 AS016 AT040 AU036 AW533 AX248 AZ031 BA070 BB052
    BD050 BE056 BF854 BG100 BH048 BI108 BJ204 BL652 BM060 BN096 BO068 BQ535 BR076 BS044 BT064 BV074 BW072 BY112
    BZ084 CA124 CC166 CD180 CF140 CG178 CH756 CI384 CK184 CL152 CM120 CN156 CO170 CR188 CU192 CV132 CW531 CX162
    CY196 CZ203 DE276 DJ262 DK208 DM212 DO214 DZ012 EC218 EE233 EG818 EH732 ER232 ES724 ET231 FI246 FJ242 FK238
    FM583 FO234 FR250 GA266 GB826 GD308 GE268 GF254 GG831 GH288 GI292 GL304 GM270 GN324 GP312 GQ226 GR300 GS239
    GT320 GU316 GW624 GY328 HK344 HM334 HN340 HR191 HT332 HU348 ID360 IE372 IL376 IM833 IN356 IO086 IQ368 IR364
    IS352 IT380 JE832 JM388 JO400 JP392 KE404 KG417 KH116 KI296 KM174 KN659 KP408 KR410 KW414 KY136 KZ398 LA418
    LB422 LC662 LI438 LK144 LR430 LS426 LT440 LU442 LV428 LY434 MA504 MC492 MD498 ME499 MF663 MG450 MH584 MK807
    ML466 MM104 MN496 MO446 MP580 MQ474 MR478 MS500 MT470 MU480 MV462 MW454 MX484 MY458 MZ508 NA516 NC540 NE562
    NF574 NG566 NI558 NL528 NO578 NP524 NR520 NU570 NZ554 OM512 PA591 PE604 PF258 PG598 PH608 PK586 PL616 PM666
    PN612 PR630 PS275 PT620 PW585 PY600 QA634 RE638 RO642 RS688 RU643 RW646 SA682 SB090 SC690 SD729 SE752 SG702
    SH654 SI705 SJ744 SK703 SL694 SM674 SN686 SO706 SR740 SS728 ST678 SV222 SX534 SY760 SZ748 TC796 TD148 TF260
    TG768 TH764 TJ762 TK772 TL626 TM795 TN788 TO776 TR792 TT780 TV798 TW158 TZ834 UA804 UG800 UM581 US840 UY858
    UZ860 VA336 VC670 VE862 VG092 VI850 VN704 VU548 WF876 WS882 XK900 YE887 YT175 ZA710 ZM894 ZW716
"""
COUNTRIES: Mapping[str, str] = {one[:2]: f"2{one[2:]}" for one in _NUMERIC.split()}


# -- resources and requests ---------------------------------------------------------------------------------------

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
COMPOSED = ("campaignCriterion", "adGroupCriterion", "adGroupAd")
"""Resources whose id is that of their parent and their own, joined by ``~``."""
_NUMBER = "[1-9][0-9]{0,18}"
_number = re.compile(_NUMBER).fullmatch


def resource_name(account: Account, resource: str, *ids: str) -> str:
    """The name of a resource of this account. A negative id is temporary: it lives as long as the request."""
    return f"customers/{account.native_id}/{COLLECTIONS[resource]}/{'~'.join(ids)}"


def tail(name: str) -> str:
    """The id at the end of a resource name."""
    return name.rpartition("/")[2]


def ids_of(resource: str, value: str, path: str) -> tuple[str, ...]:
    """The numbers of an id, one or two; InvalidInput for anything else, so that nothing else gets into a query."""
    ids = tuple(value.split("~"))
    if len(ids) != (2 if resource in COMPOSED else 1) or not all(map(_number, ids)):
        form = "<ad group>~<own id>, both" if resource in COMPOSED else "made of"
        raise refused(path, "malformed", f"An id of a Google Ads {resource} is {form} digits.")
    return ids


def named(account: Account, resource: str, name: Json) -> bool:
    """Whether this is the name of a resource of this account and type."""
    return isinstance(name, str) and _is_named(account.native_id, resource, name)


def _is_named(customer: str, resource: str, name: str) -> bool:
    prefix = f"customers/{customer}/{COLLECTIONS[resource]}/"
    ids = name.removeprefix(prefix).split("~")
    return name.startswith(prefix) and len(ids) == (2 if resource in COMPOSED else 1) and all(map(_number, ids))


def login_headers(account: Account) -> dict[str, str]:
    """The manager that the account is reached through, where one is known."""
    manager = account.extras.get("loginCustomerId", "").replace("-", "")
    if manager and not _number(manager):
        raise refused("account.extras.loginCustomerId", "malformed", "The manager's id is made of digits.")
    return {LOGIN_HEADER: manager} if manager else {}


def searched(account: Account, query: str, cursor: str | None = None) -> Request:
    """A query, or the page of it that the cursor names; a page has up to 10,000 rows."""
    body = {"query": query} | ({} if cursor is None else {"pageToken": cursor})
    url, path = f"{API}/customers/{{customer}}/googleAds:search", {"customer": account.native_id}
    return Request("POST", url, path, headers=login_headers(account), body=body, encoding="json")


def mutation(account: Account, operations: Iterable[Mapping[str, Json]]) -> Request:
    """One atomic write: all of the operations are done, or none."""
    body = {"partialFailure": False, "validateOnly": False, OPERATIONS: [dict(one) for one in operations]}
    url, path = f"{API}/customers/{{customer}}/googleAds:mutate", {"customer": account.native_id}
    return Request("POST", url, path, headers=login_headers(account), body=body, encoding="json", nature="write")


def operation(resource: str, **content: Json) -> dict[str, Json]:
    """One operation of a write: ``create``, ``remove``, or ``update`` (with its ``updateMask``)."""
    return {f"{resource}Operation": content}


def updating(resource: str, name: str, changed: Mapping[str, Json]) -> dict[str, Json]:
    """An operation that changes what ``changed`` names; a member that is None is cleared."""
    update = {"resourceName": name, **_without_nulls(changed)}
    return operation(resource, updateMask=",".join(mask(changed)), update=update)


def mask(changed: Mapping[str, Json], before: str = "") -> list[str]:
    """The leaves of an update in their order; lists and empty objects are leaves."""
    found: list[str] = []
    for name, value in changed.items():
        found += mask(value, f"{before}{name}.") if isinstance(value, Mapping) and value else [f"{before}{name}"]
    return found


def _without_nulls(value: Mapping[str, Json]) -> dict[str, Json]:
    return {
        name: _without_nulls(one) if isinstance(one, Mapping) else one for name, one in value.items() if one is not None
    }


# -- queries ------------------------------------------------------------------------------------------------------


@frozen
class Source:
    """Where a level's rows come from: the resource, the id that pages are cut by, the parent's id, what always holds.

    ``live``: the condition of a list that asks for no status.
    """

    resource: str
    key: str
    parent: str = ""
    always: tuple[str, ...] = ()
    live: tuple[str, ...] = field(default=(), kw_only=True)


def _living(resource: str) -> tuple[str, ...]:
    return (f"{resource}.status != '{REMOVED}'",)


KEYWORDS = ("ad_group_criterion.type = 'KEYWORD'", "ad_group_criterion.negative = FALSE")
SOURCES: Mapping[str, Source] = {
    "campaign": Source("campaign", "campaign.id", live=_living("campaign")),
    "adGroup": Source("ad_group", "ad_group.id", "campaign.id", live=_living("ad_group")),
    "ad": Source("ad_group_ad", "ad_group_ad.ad.id", "ad_group.id", live=_living("ad_group_ad")),
    "keyword": Source("ad_group_criterion", "ad_group_criterion.criterion_id", "ad_group.id", KEYWORDS),
}


def gaql(fields: Sequence[str], resource: str, *conditions: str, order: str = "", limit: int | None = None) -> str:
    """A query in Google's language. Values stand in it only as digits, enum names, or through :func:`literal`."""
    query = f"SELECT {', '.join(fields)} FROM {resource}"
    query += f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query += f" ORDER BY {order}" if order else ""
    return query + (f" LIMIT {limit}" if limit is not None else "")


def literal(value: str) -> str:
    """A text as a query's string."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def containing(value: str) -> str:
    """The pattern of texts that contain this one; InvalidInput for control characters."""
    if has_controls(value):
        raise refused("search", "malformed", "Text to search for has no control characters.")
    return literal("%" + re.sub(r"[%_\[\]]", lambda found: f"[{found[0]}]", value) + "%")


# -- answers ------------------------------------------------------------------------------------------------------


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """The resource name that each operation brought: answers stand in the order of the operations.

    A name of another type, account or resource than the operation's is none.
    """
    sent, answers = read(request.body, f"/{OPERATIONS}"), read(response.body, f"/{RESPONSES}")
    if not isinstance(sent, list) or not isinstance(answers, list) or len(sent) != len(answers):
        return None
    customer = request.path.get("customer", "")
    return [ItemAnswer(index, _result(one, answers[index], customer)) for index, one in enumerate(sent)]


def _result(sent: Json, answer: Json, customer: str) -> str | None:
    member, content = next(iter(sent.items()))
    resource = member.removesuffix("Operation")
    name = read(answer, f"/{resource}Result/resourceName")
    if not isinstance(name, str):
        return None
    if "create" in content:
        return name if _is_named(customer, resource, name) else None
    return name if name in (content.get("remove"), read(content, "/update/resourceName")) else None


ADVICE = {
    "mutateError.EU_POLITICAL_ADVERTISING_DECLARATION_REQUIRED": (
        "Campaigns of this account say nothing about EU political advertising: declare that for each of them first."
    ),
    "authorizationError.CLOUD_PROJECT_NOT_APPROVED_FOR_PRODUCTION": (
        "The Cloud project that owns the OAuth client has access to test accounts only."
    ),
}


def error(response: Response) -> Found | None:
    """The native error: codes as ``category.NAME``, then the categories, then the status word."""
    body = response.body if response.state == "json" else None
    request_id = response.headers.get("request-id")
    said = read(body, "/error")
    if isinstance(said, str):  # the token endpoint
        return Found((said,), text(body, "/error_description") or said, request_id)
    native = said if isinstance(said, Mapping) else read(body, "/partialFailureError")
    if not isinstance(native, Mapping):
        return Found(request_id=request_id) if response.status >= 400 else None
    names: list[str] = []
    sentences: list[str] = []
    for failure in found_at(native, "/details/*/errors/*"):
        kinds = read(failure, "/errorCode")
        for kind, name in kinds.items() if isinstance(kinds, Mapping) else ():
            names += [f"{kind}.{name}"] if isinstance(name, str) else []
        place = ".".join(_places(failure))
        sentences.append(f"{text(failure, '/message') or ''}{f' (at {place})' if place else ''}".strip())
    sentences = sentences or [text(native, "/message") or ""]
    sentences += [ADVICE[name] for name in names if name in ADVICE]
    status = text(native, "/status")
    codes = [*names, *(name.partition(".")[0] for name in names), *([status] if status else [])]
    own = next((one for one in found_at(native, "/details/*/requestId") if isinstance(one, str)), request_id)
    return Found(tuple(dict.fromkeys(codes)), " ".join(filter(None, sentences)) or None, own)


def _places(failure: Json) -> list[str]:
    """Where an error points. An index that is left out is 0, or there is none: it is not guessed."""
    places: list[str] = []
    for element in found_at(failure, "/location/fieldPathElements/*"):
        places += [one for one in (text(element, "/fieldName"), text(element, "/index")) if one]
    return places


_seconds = re.compile(r"([0-9]{1,8}(\.[0-9]{1,9})?)s").fullmatch


def wait(response: Response) -> float | None:
    """Seconds until the quota allows more."""
    delays = found_at(response.body, "/error/details/*/errors/*/details/quotaErrorDetails/retryDelay")
    found = [said.group(1) for one in delays if isinstance(one, str) and (said := _seconds(one))]
    return max(map(float, found), default=None)


def next_page(response: Response) -> str | None:
    """The cursor of the next page of a query."""
    return text(response.body, "/nextPageToken") or None


def merged(native: Mapping[str, Json], more: Mapping[str, Json]) -> dict[str, Json]:
    """Two rows that speak of the same entity as one."""
    both = dict(native)
    for name, value in more.items():
        own = both.get(name)
        both[name] = merged(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return both


# -- money and days -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Micros, in multiples of the currency's billable unit: the account's own, else the minor unit of ISO 4217."""
    currency = currency_of(account)
    known = account.extras.get("billableUnitMicros", "")
    if known and not _number(known):
        raise refused(
            "account.extras.billableUnitMicros", "malformed", "The billable unit is a whole number of micros."
        )
    if known:
        return Unit(MICROS, int(known), "text")
    step = MICROS // 10 ** exponent(currency, "account.currency")  # (unverified) per currency
    sentence = f"Google's billable unit of {currency} is not known for this account: {step} micros are assumed."
    return Unit(MICROS, step, "text", sentence)


def serving_days(account: Account, brief: CampaignBrief) -> tuple[date, date | None]:
    """The first and last day of the campaign in the account's time zone."""
    return local_days(brief.schedule.start, brief.schedule.end, timezone_of(account))


def first_moment(day: date) -> str:
    """Google Ads API, dateError: a Search campaign starts at the start of a day."""
    return f"{day.isoformat()} 00:00:00"


def last_moment(day: date) -> str:
    """Google Ads API, dateError: a Search campaign ends at the end of a day."""
    return f"{day.isoformat()} 23:59:59"


# -- words and places ---------------------------------------------------------------------------------------------


def has_controls(value: str) -> bool:
    return any(category(one) == "Cc" for one in value)


def columns(value: str) -> int:
    """The width of a text: double-width characters count two."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in value)


def wrong_texts(values: Sequence[str], widest: int, counts: tuple[int, int]) -> str | None:
    """What is wrong with the headlines or descriptions of an ad, None where nothing is."""
    least, most = counts
    if not least <= len(values) <= most:
        return f"an ad has {least} to {most} of them"
    if len(set(values)) < len(values):
        return "the same text stands there twice"
    for index, value in enumerate(values):
        if not value.strip() or has_controls(value):
            return f"text {index + 1} is blank or has control characters"
        if columns(value) > widest:
            return f"text {index + 1} is longer than {widest} characters (double-width characters count twice)"
    return None


def wrong_url(value: str) -> str | None:
    if len(value) > URL_LENGTH:
        return f"an address has at most {URL_LENGTH} characters"
    return None if value.startswith(("http://", "https://")) else "an address begins with http:// or https://"


def wrong_keywords(keywords: Sequence[Keyword]) -> str | None:
    """What Google would not take of the keywords, None where it takes them all."""
    seen: set[tuple[str, str]] = set()
    for index, keyword in enumerate(keywords):
        key = (" ".join(keyword.text.casefold().split()), keyword.match)
        if key in seen:
            return "the same keyword stands there twice with the same match"
        seen.add(key)
        if not keyword.text.strip() or has_controls(keyword.text) or set(keyword.text) & set(KEYWORD_WRONG):
            return f"keyword {index + 1} is blank, or has a character that keywords cannot have ({KEYWORD_WRONG})"
        if len(keyword.text.split()) > KEYWORD_WORDS:
            return f"keyword {index + 1} has more than {KEYWORD_WORDS} words"
    return None


def wrong_countries(countries: Sequence[str]) -> str | None:
    unknown = [one for one in countries if one not in COUNTRIES]
    return f"there is no country {unknown[0]}" if unknown else None


def wrong_locations(locations: Sequence[str]) -> str | None:
    good = all(_number(one.removeprefix(LOCATIONS)) for one in locations)
    return None if good else f"a location is the number of a geo target, with or without {LOCATIONS}"


def wrong_native(native: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting in Google's own names, None where nothing is."""
    if not set(native) <= {"campaignCriteria", "geoTargetTypeSetting"}:
        return "it has the members campaignCriteria and geoTargetTypeSetting, and no other"
    geo = native.get("geoTargetTypeSetting", {})
    allowed = {"positiveGeoTargetType": POSITIVE_GEO, "negativeGeoTargetType": NEGATIVE_GEO}
    if not isinstance(geo, Mapping) or any(value not in allowed.get(name, ()) for name, value in geo.items()):
        said = "; ".join(f"{name}: {', '.join(values)}" for name, values in allowed.items())
        return f"geoTargetTypeSetting takes {said}"
    criteria = native.get("campaignCriteria", [])
    if not isinstance(criteria, list | tuple):
        return "campaignCriteria is a list"
    wrong: str | None = next((said for one in criteria if (said := _wrong_criterion(one)) is not None), None)
    if wrong is not None:
        return wrong
    if not any(("location" in one or "proximity" in one) and not one.get("negative") for one in criteria):
        return "the targeting names no location or proximity, so that it would serve worldwide"
    return None


def _wrong_criterion(one: Json) -> str | None:
    if not isinstance(one, Mapping) or len(set(one) & set(CRITERIA)) != 1:
        return f"a criterion has exactly one of {', '.join(CRITERIA)}"
    if not set(one) <= {*CRITERIA, *BESIDE_CRITERIA}:
        return f"beside it a criterion may have {' and '.join(BESIDE_CRITERIA)}"
    if not all(isinstance(one[name], Mapping) and one[name] for name in CRITERIA if name in one):
        return "a criterion's content is an object"
    if not isinstance(one.get("negative", False), bool) or not is_number(one.get("bidModifier", 1)):
        return "negative is true or false, and bidModifier a number"
    return None


def geo_targets(brief: CampaignBrief) -> dict[str, str]:
    """The geo targets of a brief, each once, with the member that names it."""
    found: dict[str, str] = {}
    for index, country in enumerate(brief.targeting.countries or ()):
        found.setdefault(COUNTRIES[country], f"targeting.countries.{index}")
    for index, location in enumerate(brief.targeting.location_ids or ()):
        found.setdefault(location.removeprefix(LOCATIONS), f"targeting.locationIds.{index}")
    return found
