"""The simulated Meta Marketing API v26.0: a strict, independent reading of its documentation.

Where the documentation is silent, the choice made is marked "chosen" at its place. What Meta leaves out of an answer
because it is empty, is left out here too: unset fields, `paging` of an empty list, `actions` of a day without any.
"""

from adsunify.sandbox.framework import Answer, Network, Request, Route, consent_routes
from adsunify.sandbox.networks.meta import catalogs, insights, login, reads, writes
from adsunify.sandbox.networks.meta.accounts import ACCOUNTS
from adsunify.sandbox.networks.meta.errors import absent, failure, guard, problem

GRAPH = ("graph.facebook.com",)
ACCOUNT = "/v26.0/{node:act_[^/]+}"
NODE = "/v26.0/{node}"


def get_node(request: Request) -> Answer:
    """GET /{id}: whatever has that id."""
    if (found := insights.get_run(request) or reads.get_entity(request)) is None:
        raise absent(request, request.slots["node"])
    return found


NETWORK = Network(
    code="meta",
    first_id=6101,
    accounts=ACCOUNTS,
    routes=(
        *consent_routes(login.LOGIN),
        Route("GET", GRAPH, "/v26.0/oauth/access_token", login.token, role="login"),
        Route("GET", GRAPH, "/v26.0/oauth/revoke", login.revoke_token, role="login"),
        Route("GET", GRAPH, "/v26.0/debug_token", login.debug_token, role="login"),
        Route("DELETE", GRAPH, "/v26.0/me/permissions", login.revoke_app, role="login"),
        Route("GET", GRAPH, "/v26.0/me", reads.get_me),
        Route("GET", GRAPH, "/v26.0/me/adaccounts", reads.list_accounts),
        Route("GET", GRAPH, "/v26.0/me/accounts", catalogs.list_pages),
        Route("GET", GRAPH, "/v26.0/search", catalogs.search),
        Route("GET", GRAPH, ACCOUNT, reads.get_account),
        Route("POST", GRAPH, f"{ACCOUNT}/campaigns", writes.create_campaign),
        Route("POST", GRAPH, f"{ACCOUNT}/adsets", writes.create_adset),
        Route("POST", GRAPH, f"{ACCOUNT}/ads", writes.create_ad),
        Route("POST", GRAPH, f"{ACCOUNT}/adcreatives", writes.create_adcreative),
        Route("POST", GRAPH, f"{ACCOUNT}/adimages", catalogs.create_image),
        Route("GET", GRAPH, f"{ACCOUNT}/{{edge:{'|'.join(catalogs.EDGES)}}}", catalogs.list_edge),
        Route("GET", GRAPH, f"{NODE}/insights", insights.get_insights),
        # an error inside a 200 is here what a failed report run answers to the poll
        Route("POST", GRAPH, f"{NODE}/insights", insights.post_insights, faults=frozenset({"error_in_200"})),
        Route("GET", GRAPH, f"{NODE}/{{edge:campaigns|adsets|ads|adcreatives}}", reads.list_entities),
        Route("GET", GRAPH, NODE, get_node),
        Route("POST", GRAPH, NODE, writes.update),
        Route("DELETE", GRAPH, NODE, writes.delete),
    ),
    problem=problem,
    failure=failure,
    guard=guard,
)
