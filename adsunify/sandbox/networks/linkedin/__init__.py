"""The simulated LinkedIn Marketing API: a strict, independent reading of its documentation.

Where the documentation is silent the choice made is marked "chosen" at its place. Members and parameters that the
documentation does not know are refused, though the real API may ignore some of them.
"""

from collections.abc import Callable

from adsunify.sandbox.framework import Answer, Network, Refusal, Request, Route, consent_routes
from adsunify.sandbox.networks.linkedin import analytics, catalogs, login, posts, reads, writes
from adsunify.sandbox.networks.linkedin.answers import failure, guard, problem
from adsunify.sandbox.networks.linkedin.restli import tunnelled
from adsunify.sandbox.networks.linkedin.tables import ACCOUNTS, API, LOGIN, LOGIN_HOST

_LOGIN = (LOGIN_HOST,)
_ACCOUNT = "/rest/adAccounts/{account}"
_ENTITIES = f"{_ACCOUNT}/{{entities:{'|'.join(writes.KINDS)}}}"
_READS: tuple[tuple[str, Callable[[Request], Answer]], ...] = (
    ("/rest/adAccounts", reads.list_accounts),
    ("/rest/adAccountUsers", reads.list_roles),
    (_ACCOUNT, reads.get_account),
    ("/rest/adAnalytics", analytics.analytics),
    ("/rest/adTargetingFacets", catalogs.list_facets),
    ("/rest/adTargetingEntities", catalogs.find_entities),
    ("/rest/audienceCounts", catalogs.count_audience),
    ("/rest/adBudgetPricing", catalogs.price),
    ("/rest/organizationAcls", catalogs.list_pages),
    ("/rest/conversions", catalogs.list_conversions),
    ("/rest/posts", posts.find_posts),
    ("/rest/posts/{post}", posts.get_post),
    ("/rest/videos/{video}", posts.get_video),
)


def _tunnel(read: Callable[[Request], Answer], write: Callable[[Request], Answer] | None = None) -> (
    Callable[[Request], Answer]
):  # fmt: skip
    """A POST that stands for a GET, and otherwise the write of this path, if there is one."""

    def handler(request: Request) -> Answer:
        if tunnelled(request):
            return read(request)
        if write is None:
            raise Refusal(failure(request, 405))
        return write(request)

    return handler


NETWORK = Network(
    code="linkedin",
    first_id=7021,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(LOGIN),
        Route("POST", _LOGIN, "/oauth/v2/accessToken", login.token, role="login"),
        Route("POST", _LOGIN, "/oauth/v2/revoke", login.revoke, role="login"),
        Route("POST", _LOGIN, "/oauth/v2/introspectToken", login.introspect, role="login"),
        *(Route("GET", API, path, read) for path, read in _READS),
        *(Route("POST", API, path, _tunnel(read)) for path, read in _READS),
        Route("GET", API, _ENTITIES, reads.search),
        Route("POST", API, _ENTITIES, _tunnel(reads.search, writes.post_collection), faults=writes.FAULTS),
        Route("GET", API, f"{_ENTITIES}/{{entity}}", reads.get_entity),
        Route("POST", API, f"{_ENTITIES}/{{entity}}", writes.post_entity),
        Route("DELETE", API, f"{_ENTITIES}/{{entity}}", writes.delete_entity),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
    seed=writes.seed,
)
