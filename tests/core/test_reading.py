"""Trees, in which nothing hangs on what was not read; whose an entity is; and reads that are asked once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from adsunify.adapter.flows import ask, drive, remembered
from adsunify.adapter.hierarchy import Entity, known, nest, owned
from adsunify.adapter.network import Account, Level, Network
from adsunify.errors import ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow, Request, Response, Wait
from adsunify.networks import adapter


def entity(kind: str, id_: str, parent: str | None = None) -> Entity:
    return Entity(kind, id_, parent, None, None, None, {})


def test_a_branch_without_its_root_is_left_out_whole() -> None:
    read = [
        entity("campaign", "c1"),
        entity("adGroup", "g1", "c1"),
        entity("adGroup", "g2", "deleted"),
        entity("ad", "a1", "g1"),
        entity("ad", "a2", "g2"),
        entity("keyword", "k2", "g2"),
    ]
    assert [node.id for node in nest(read)] == ["c1", "g1", "a1"]


# -- whose an entity is -------------------------------------------------------------------------------------------

SNAPCHAT = adapter("snapchat").network
OURS = Account("snapchat", "ours")


def above(campaign: Entity) -> Callable[[Level, str], Flow[Entity]]:
    """What is read above an ad: a squad that does not say whose it is, then this campaign."""

    def one(wanted: Level, id_: str) -> Flow[Entity]:
        yield Wait(0, "reading")
        return entity("adGroup", id_, campaign.id) if wanted.kind == "adGroup" else campaign

    return one


def test_what_an_entity_hangs_on_says_whose_it_is() -> None:
    ad, campaign = entity("ad", "a", "s"), entity("campaign", "c")
    ours = evolve(campaign, native={"ad_account_id": "ours"})
    line = drive(owned(SNAPCHAT, OURS, ad, above(ours)), unasked)
    assert [one.id for one in line] == ["a", "s", "c"]
    with pytest.raises(ProviderNotFound):
        drive(owned(SNAPCHAT, OURS, ad, above(evolve(campaign, native={"ad_account_id": "theirs"}))), unasked)
    for unsaid in (campaign, evolve(campaign, native={"ad_account_id": None})):
        with pytest.raises(ProviderUnreadable):
            drive(owned(SNAPCHAT, OURS, ad, above(unsaid)), unasked)


def unasked(request: Request) -> Response:
    raise AssertionError(request.url)


@pytest.mark.parametrize("id_", ["act_1", "me", "..", "1/", " 1", "1\n", "1,2", "", "\u0661"])
def test_what_is_no_id_is_not_known(id_: str) -> None:
    with pytest.raises(ProviderNotFound):
        known(adapter("meta").network, "campaign", id_)


def test_a_read_is_asked_once() -> None:
    network: Network = adapter("meta").network
    request, other = (Request("GET", f"https://graph.facebook.com/{name}") for name in ("a", "b"))
    asked: list[str] = []

    def flow() -> Flow[list[int]]:
        answers: list[int] = []
        for one in (request, request, other, request):
            answers += [(yield from ask(network, one)).body["n"]]
        yield Wait(0, "it may be another by now")
        return [*answers, (yield from ask(network, request)).body["n"]]

    def answer(one: Request) -> Response:
        asked.append(one.url[-1])
        return Response(200, {}, {"n": len(asked)})

    assert drive(remembered(flow()), answer) == [1, 1, 2, 1, 3]
    assert asked == ["a", "b", "a"]
