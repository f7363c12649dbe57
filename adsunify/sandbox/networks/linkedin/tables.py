"""Hosts, versions, enumerations, limits, demo accounts, known posts."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.oauth import OAuthConfig
from adsunify.sandbox.paging import OffsetPaging
from adsunify.sandbox.parsing import fill_keys, parse_names, split_words
from adsunify.sandbox.world import Account

API_HOSTS = ("api.linkedin.com",)
LOGIN_HOST = "www.linkedin.com"
# A version is supported for at least 12 months. There is no version of December.
VERSIONS = split_words("""
    202510 202511 202601 202602 202603 202604 202605 202606 202607 202608 202609
""")

DAY_SECONDS = 86400
WRITE_SCOPE, REPORT_SCOPE, POSTS_SCOPE = "rw_ads", "r_ads_reporting", "r_organization_social"
READ_SCOPES = (WRITE_SCOPE, "r_ads")
PAGES_SCOPES = ("r_organization_admin", "rw_organization_admin")
LOGIN = OAuthConfig(
    consent_pages=((LOGIN_HOST, "/oauth/v2/authorization"),),
    optional_scopes=(WRITE_SCOPE, REPORT_SCOPE, POSTS_SCOPE, "r_ads", "r_basicprofile", *PAGES_SCOPES),
    pkce="refused",  # LinkedIn offers PKCE only for native apps, on another endpoint
    code_seconds=1800,
    access_seconds=60 * DAY_SECONDS,
    refresh_seconds=365 * DAY_SECONDS,  # a year from the consent: a refresh does not extend the lifetime
    access_prefix="AQV",
    refresh_prefix="AQX",
)

PAGING = OffsetPaging("start", "count")  # the older paging, which has no tokens
ORGANIZATION_PAGE, OTHER_ORGANIZATION_PAGE = "urn:li:organization:7700123", "urn:li:organization:7700999"
US_ACCOUNT, TOKYO_ACCOUNT, ENTERPRISE_ACCOUNT, VIEW_ONLY_ACCOUNT = "518121035", "518121036", "518121037", "518121038"


def _make_account(number: str, name: str, currency: str, role: str = "ACCOUNT_MANAGER", **native: Any) -> Account:
    # accounts have no time zone: every day is a day of UTC
    facts = {"type": "BUSINESS", "status": "ACTIVE", "reference": ORGANIZATION_PAGE, "test": False, **native}
    return Account(number, name, currency, "UTC", {"native": facts, "role": role})


ACCOUNTS = (
    _make_account(US_ACCOUNT, "Northwind webinars", "USD"),
    _make_account(TOKYO_ACCOUNT, "Northwind Japan", "JPY", "CAMPAIGN_MANAGER"),
    _make_account(ENTERPRISE_ACCOUNT, "Northwind Group", "EUR", type="ENTERPRISE", reference=OTHER_ORGANIZATION_PAGE),
    _make_account(VIEW_ONLY_ACCOUNT, "Agency of a friend", "GBP", "VIEWER"),
)
ZERO_DECIMAL_CURRENCIES = ("CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND")

GROUP_STATUSES = ("ACTIVE", "ARCHIVED", "CANCELED", "DRAFT", "PAUSED", "PENDING_DELETION", "REMOVED")
STATUSES: Mapping[str, tuple[str, ...]] = {
    "campaignGroup": GROUP_STATUSES,
    "campaign": (*GROUP_STATUSES, "COMPLETED"),
    "creative": GROUP_STATUSES,
}
ACCOUNT_STATUSES = ("ACTIVE", "CANCELED", "DRAFT", "PENDING_DELETION", "REMOVED")
# Statuses that creation accepts: two for a group, three for a campaign (our choice); a paused creative is refused.
CREATION_STATUSES: Mapping[str, tuple[str, ...]] = {
    "campaignGroup": ("ACTIVE", "DRAFT"),
    "campaign": ("ACTIVE", "PAUSED", "DRAFT"),
    "creative": ("ACTIVE", "DRAFT"),
}
FINAL_STATUSES = ("CANCELED", "PENDING_DELETION", "REMOVED")
READ_ONLY_STATUSES = ("COMPLETED", "REMOVED")  # states that only the network sets (our choice)

CAMPAIGN_TYPES = ("DYNAMIC", "EVENT_AD", "SPONSORED_INMAILS", "SPONSORED_UPDATES", "TEXT_AD")
# Requests use the singular, not the plural names of the documentation's table.
OBJECTIVES = split_words("""
    BRAND_AWARENESS ENGAGEMENT JOB_APPLICANT LEAD_GENERATION TALENT_LEAD VIDEO_VIEW WEBSITE_CONVERSION WEBSITE_VISIT
""")
OPTIMIZATION_TARGETS = split_words("""
    CAP_COST_AND_MAXIMIZE_CLICKS CAP_COST_AND_MAXIMIZE_IMPRESSIONS CAP_COST_AND_MAXIMIZE_LEADS
    CAP_COST_AND_MAXIMIZE_VIDEO_VIEWS ENHANCED_CONVERSION MAX_CLICK MAX_CONVERSION MAX_IMPRESSION MAX_LEAD
    MAX_QUALIFIED_LEAD MAX_REACH MAX_VIDEO_VIEW NONE TARGET_COST_PER_CLICK TARGET_COST_PER_IMPRESSION
    TARGET_COST_PER_VIDEO_VIEW
""")
# By objective: the optimization targets, and how they are billed (other objectives are not checked).
COST_TYPES_BY_TARGET: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "BRAND_AWARENESS": fill_keys(
        ("CPM",), "NONE MAX_IMPRESSION MAX_REACH TARGET_COST_PER_IMPRESSION CAP_COST_AND_MAXIMIZE_IMPRESSIONS"
    ),
    "WEBSITE_VISIT": {
        "NONE": ("CPC", "CPM"),
        "TARGET_COST_PER_CLICK": ("CPC",),
        **fill_keys(("CPM",), "MAX_CLICK CAP_COST_AND_MAXIMIZE_CLICKS"),
    },
    "ENGAGEMENT": {
        "TARGET_COST_PER_CLICK": ("CPC",),
        **fill_keys(("CPC", "CPM"), "NONE ENHANCED_CONVERSION"),
        **fill_keys(("CPM",), "MAX_CLICK CAP_COST_AND_MAXIMIZE_CLICKS"),
    },
}
FORMATS = ("CAROUSEL", "SINGLE_VIDEO", "SPONSORED_UPDATE_EVENT", "SPONSORED_UPDATE_NATIVE_DOCUMENT", "STANDARD_UPDATE")
CREATION_ONLY_FORMATS = ("CAROUSEL", "SINGLE_VIDEO")  # the first creative cannot set these formats
POLITICAL_INTENTS = ("NOT_DECLARED", "NOT_POLITICAL", "POLITICAL")
# The LinkedIn Marketing API does not list its locales: these are a sample.
LOCALES = frozenset(
    {
        *split_words("""
        ar_AE cs_CZ da_DK de_DE en_US es_ES fr_FR hi_IN id_ID it_IT ja_JP ko_KR ms_MY nl_NL no_NO pl_PL pt_BR ro_RO
        ru_RU sv_SE th_TH tr_TR uk_UA zh_CN zh_TW
    """)
    }
)

FACET_PREFIX = "urn:li:adTargetingFacet:"
LOCATION_FACETS = ("locations", "profileLocations")
INCLUDE_ONLY_FACETS = ("ageRanges", "genders", "groups", "interfaceLocales")
EXCLUSIVE_FACETS = (
    ("jobFunctions", "titles"),
    ("seniorities", "titles"),
    ("industries", "employers"),
    ("staffCountRanges", "employers"),
)
# By facet: the type of the entities ("-": not documented).
_FACET_TYPES = parse_names("""
    locations geo, profileLocations geo, interfaceLocales locale, industries industry, seniorities seniority,
    jobFunctions function, titles title, titlesAll title, titlesPast title, staffCountRanges staffCountRange,
    employers organization, employersAll organization, employersPast organization, schools organization, skills skill,
    degrees degree, fieldsOfStudy fieldOfStudy, interests -, groups group, genders gender, ageRanges ageRange,
    yearsOfExperienceRanges -, memberBehaviors -, companyCategory -, growthRate -, revenue -, followedCompanies -,
    firstDegreeConnectionCompanies -, audienceMatchingSegments adSegment, dynamicSegments adSegment
""")
# Facet: some of its entities. A facet without entities has a typeahead only.
_FACET_ENTITIES: Mapping[str, Mapping[str, str]] = {
    "interfaceLocales": parse_names("en_US English, de_DE German, ja_JP Japanese"),
    "industries": parse_names("4 Software Development, 43 Financial Services"),
    "seniorities": parse_names("""
        1 Unpaid, 2 Training, 3 Entry, 4 Senior, 5 Manager, 6 Director, 7 VP, 8 CXO, 9 Partner, 10 Owner
    """),
    "jobFunctions": parse_names("8 Engineering, 15 Marketing, 25 Sales"),
    "staffCountRanges": {"(11,50)": "11-50", "(51,200)": "51-200", "(201,500)": "201-500"},
    "degrees": parse_names("200 Bachelor of Science, 500 Master of Science"),
    "fieldsOfStudy": parse_names("100189 Computer Science, 100347 Mathematics"),
    "genders": parse_names("MALE Male, FEMALE Female"),
    "ageRanges": {"(18,24)": "18 to 24", "(25,34)": "25 to 34", "(35,54)": "35 to 54", "(55,2147483647)": "55+"},
}
FACETS: Mapping[str, tuple[str | None, tuple[tuple[str, str], ...]]] = {
    name: (None if kind == "-" else kind, tuple(_FACET_ENTITIES.get(name, {}).items()))
    for name, kind in _FACET_TYPES.items()
}
# Results of a typeahead: facet, urn, name.
FINDABLE_ENTITIES = (
    ("locations", "urn:li:geo:103644278", "United States"),
    ("locations", "urn:li:geo:101355337", "Japan"),
    ("locations", "urn:li:geo:105015875", "France"),
    ("locations", "urn:li:geo:106383538", "Paris, Ile-de-France, France"),
    ("locations", "urn:li:geo:101282230", "Germany"),
    ("titles", "urn:li:title:9", "Software Engineer"),
    ("titles", "urn:li:title:25169", "Head of Engineering"),
    ("skills", "urn:li:skill:1346", "Python (Programming Language)"),
    ("employers", "urn:li:organization:1035", "Microsoft"),
)

# Posts with special states. Any other well-formed post is a published post of the page.
POSTS: Mapping[str, Mapping[str, Any]] = {
    "urn:li:ugcPost:6850000000000000002": {"content": {"media": {"id": "urn:li:video:C4D05AQH", "title": "Film"}}},
    "urn:li:share:6850000000000000003": {"content": {"carousel": {"cards": []}}},
    "urn:li:share:6850000000000000004": {"lifecycleState": "DRAFT"},
    "urn:li:share:6850000000000000005": {"author": OTHER_ORGANIZATION_PAGE},
    "urn:li:ugcPost:6850000000000000006": {
        "content": {"media": {"id": "urn:li:video:PROCESSING1", "title": "New film"}}
    },
}
OWN_POSTS = ("urn:li:share:6850000000000000001", *POSTS)

PAGE_SIZES = {"campaignGroup": 1000, "campaign": 1000, "creative": 100, "adAccount": 1000}
MAX_ROWS, MAX_FIELDS, MAX_PIVOTS, MAX_REACH_DAYS, MAX_DAILY_DAYS = 15_000, 20, 3, 92, 183
MAX_URL_LENGTH = 4096
