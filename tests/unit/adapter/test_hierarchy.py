"""Trees, in which nothing hangs on what was not read; whose an entity is; and reads that are asked once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.flows import fetch_response, memoize_reads, next_page_builder, run_flow
from adsunify.adapter.hierarchy import (
    MAX_FILTER_PAGES,
    EntityPage,
    ListQuery,
    ParsedEntity,
    drop_orphans,
    fetch_entity_page,
    fetch_lineage,
    require_accepted_action,
    require_same_entity,
    require_valid_id,
)
from adsunify.adapter.network import Level, Network, get_level
from adsunify.errors import InvalidInput, ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow, Request, Response, Sleep
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Action
from adsunify.values.exact_json import Json


def entity(kind: str, id_: str, parent: str | None = None) -> ParsedEntity:
    return ParsedEntity(kind, id_, parent, None, None, None, {})


def test_a_branch_without_its_root_is_left_out_whole() -> None:
    read = [
        entity("campaign", "c1"),
        entity("adGroup", "g1", "c1"),
        entity("adGroup", "g2", "deleted"),
        entity("ad", "a1", "g1"),
        entity("ad", "a2", "g2"),
        entity("keyword", "k2", "g2"),
    ]
    assert [node.id for node in drop_orphans(read)] == ["c1", "g1", "a1"]


# -- whose an entity is -------------------------------------------------------------------------------------------

SNAPCHAT = get_adapter("snapchat").network
OURS = Account("snapchat", "ours")


def reader(**campaign: Json) -> Callable[[Level, str], Flow[ParsedEntity]]:
    """Reads an ad, a squad that does not name its account, and a campaign with these members."""
    read = {
        "ad": entity("ad", "a", "s"),
        "adGroup": entity("adGroup", "s", "c"),
        "campaign": evolve(entity("campaign", "c"), native=campaign),
    }

    def fetch_level_entity(level: Level, id_: str) -> Flow[ParsedEntity]:
        yield Sleep(0, "reading")
        assert read[level.kind].id == id_
        return read[level.kind]

    return fetch_level_entity


def test_what_an_entity_hangs_on_says_whose_it_is() -> None:
    line = run_flow(fetch_lineage(SNAPCHAT, OURS, "ad", "a", reader(ad_account_id="ours")), refuse_request)
    assert [node.id for node in line] == ["a", "s", "c"]
    with pytest.raises(ProviderNotFound):
        run_flow(fetch_lineage(SNAPCHAT, OURS, "ad", "a", reader(ad_account_id="theirs")), refuse_request)
    for unsaid in (reader(), reader(ad_account_id=None)):
        with pytest.raises(ProviderUnreadable):
            run_flow(fetch_lineage(SNAPCHAT, OURS, "ad", "a", unsaid), refuse_request)


def refuse_request(request: Request) -> Response:
    raise AssertionError(request.url)


@pytest.mark.parametrize("id_", ["act_1", "me", "..", "1/", " 1", "1\n", "1,2", "", "\u0661"])
def test_what_is_no_id_is_not_known(id_: str) -> None:
    with pytest.raises(ProviderNotFound):
        require_valid_id(get_adapter("meta").network, "campaign", id_)


@pytest.mark.parametrize(
    ("search", "status", "has_match"),
    [(None, None, True), ("SPRING", None, True), ("autumn", None, False), (None, "ON", True), ("spring", "OFF", False)],
)
def test_a_list_is_filtered_by_name_and_native_status(search: str | None, status: str | None, has_match: bool) -> None:
    entity = ParsedEntity("ad", "1", None, "Spring shoes", "active", "ON", {})
    assert ListQuery(search=search, status=status).has_match(entity) is has_match


def fetch_numbered_page(answer: Callable[[int], Json]) -> EntityPage:
    """Fetch a page of entities from a list whose pages have numbers; ``answer`` makes the body of a page."""

    def parse_page(response: Response) -> EntityPage:
        return EntityPage(tuple(entity("ad", id_) for id_ in response.body["ids"]), response.body["next"])

    following = next_page_builder("page", lambda response: response.body["next"])
    first = Request("GET", "https://graph.facebook.com/ads", query={"page": "1"})
    flow = fetch_entity_page(SNAPCHAT, first, following, parse_page)
    return run_flow(flow, lambda request: Response(200, {}, answer(int(request.query["page"]))))


@pytest.mark.parametrize(
    ("first_match", "last_page", "ids", "cursor"),
    [
        (1, 3, ["1"], "2"),
        (3, 4, ["3"], "4"),
        (3, 3, ["3"], None),
        (9, 2, [], None),
        (MAX_FILTER_PAGES + 1, 99, [], str(MAX_FILTER_PAGES + 1)),
    ],
)
def test_pages_without_a_match_are_skipped(first_match: int, last_page: int, ids: list[str], cursor: str) -> None:
    def answer(page: int) -> Json:
        return {"ids": [str(page)] * (page >= first_match), "next": str(page + 1) if page < last_page else None}

    page = fetch_numbered_page(answer)
    assert ([entity.id for entity in page.entities], page.cursor) == (ids, cursor)


def test_a_list_whose_next_page_is_the_same_page_is_refused() -> None:
    with pytest.raises(ProviderUnreadable):
        fetch_numbered_page(lambda page: {"ids": [], "next": "1"})


def test_a_read_of_one_entity_refuses_another() -> None:
    network = get_adapter("reddit").network
    level = network.levels[0]
    entity = ParsedEntity(level.kind, "1", None, None, None, None, {})
    assert require_same_entity(network, level, entity, "1") is entity
    with pytest.raises(ProviderUnreadable):
        require_same_entity(network, level, entity, "2")


def test_a_read_is_asked_once() -> None:
    network: Network = get_adapter("meta").network
    request, other = (Request("GET", f"https://graph.facebook.com/{name}") for name in ("a", "b"))
    requested_names: list[str] = []

    def flow() -> Flow[list[int]]:
        answers: list[int] = []
        for next_request in (request, request, other, request):
            answers += [(yield from fetch_response(network, next_request)).body["n"]]
        yield Sleep(0, "it may be another by now")
        return [*answers, (yield from fetch_response(network, request)).body["n"]]

    def answer(request: Request) -> Response:
        requested_names.append(request.url[-1])
        return Response(200, {}, {"n": len(requested_names)})

    assert run_flow(memoize_reads(flow()), answer) == [1, 1, 2, 1, 3]
    assert requested_names == ["a", "b", "a"]


ACTIONS: tuple[Action, ...] = ("create", "status", "update", "edit", "delete")


@pytest.mark.parametrize(
    ("native_status", "status", "accepted"),
    [
        ("ON", "active", set(ACTIONS)),
        (None, None, set(ACTIONS)),
        ("ON", "deleted", set()),  # some networks say in another member that an entity is deleted
        ("GONE", "deleted", set()),
        ("STORED", "archived", {"delete"}),
        ("CLOSED", "archived", set()),
        ("OLD", "archived", set(ACTIONS)),
    ],
)
def test_a_status_may_exclude_actions(native_status: str | None, status: str | None, accepted: set[Action]) -> None:
    adapter = get_adapter("reddit").network
    level = evolve(get_level(adapter, "campaign"), accepted_actions={"STORED": ("delete",), "CLOSED": ()})
    network = evolve(adapter, levels=(level,))
    campaign = ParsedEntity("campaign", "1", None, None, status, native_status, {})
    for action in ACTIONS:
        if action in accepted:
            require_accepted_action(network, campaign, action, "entityId")
            continue
        with pytest.raises(InvalidInput) as refusal:
            require_accepted_action(network, campaign, action, "entityId")
        (issue,) = refusal.value.issues
        assert (issue.path, issue.code) == ("entityId", "deleted")
        assert ("It accepts its deletion." in issue.message) == ("delete" in accepted)
