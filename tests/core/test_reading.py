"""Trees: what hangs on nothing that was read is left out, at every level."""

from __future__ import annotations

from adsunify.reading import Entity, nest


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
