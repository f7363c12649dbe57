"""Trees, in which nothing hangs on what was not read; whose an entity is; and reads that are asked once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from adsunify.adapter.flows import fetch_response, memoize_reads, run_flow
from adsunify.adapter.hierarchy import (
    ListQuery,
    ParsedEntity,
    drop_orphans,
    ensure_owned,
    require_same_entity,
    require_valid_id,
)
from adsunify.adapter.network import Account, Level, Network
from adsunify.errors import ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow, Request, Response, Sleep
from adsunify.networks.registry import get_adapter


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


def above(campaign: ParsedEntity) -> Callable[[Level, str], Flow[ParsedEntity]]:
    """What is read above an ad: a squad that does not say whose it is, then this campaign."""

    def one(wanted: Level, id_: str) -> Flow[ParsedEntity]:
        yield Sleep(0, "reading")
        return entity("adGroup", id_, campaign.id) if wanted.kind == "adGroup" else campaign

    return one


def test_what_an_entity_hangs_on_says_whose_it_is() -> None:
    ad, campaign = entity("ad", "a", "s"), entity("campaign", "c")
    ours = evolve(campaign, native={"ad_account_id": "ours"})
    line = run_flow(ensure_owned(SNAPCHAT, OURS, ad, above(ours)), unasked)
    assert [one.id for one in line] == ["a", "s", "c"]
    with pytest.raises(ProviderNotFound):
        run_flow(ensure_owned(SNAPCHAT, OURS, ad, above(evolve(campaign, native={"ad_account_id": "theirs"}))), unasked)
    for unsaid in (campaign, evolve(campaign, native={"ad_account_id": None})):
        with pytest.raises(ProviderUnreadable):
            run_flow(ensure_owned(SNAPCHAT, OURS, ad, above(unsaid)), unasked)


def unasked(request: Request) -> Response:
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
    asked: list[str] = []

    def flow() -> Flow[list[int]]:
        answers: list[int] = []
        for one in (request, request, other, request):
            answers += [(yield from fetch_response(network, one)).body["n"]]
        yield Sleep(0, "it may be another by now")
        return [*answers, (yield from fetch_response(network, request)).body["n"]]

    def answer(one: Request) -> Response:
        asked.append(one.url[-1])
        return Response(200, {}, {"n": len(asked)})

    assert run_flow(memoize_reads(flow()), answer) == [1, 1, 2, 1, 3]
    assert asked == ["a", "b", "a"]
