"""Questions: what many ask at once is answered to each, and what one asks wrongly is his own trouble."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import Integer, bindparam, insert, select, text
from sqlalchemy.exc import DBAPIError

from adsunify.errors import StoreError
from adsunify.store import Store, open_store
from adsunify.store.schema import oauth_clients, workspaces
from adsunify.store.statement import Query, Statement

INSERT = Statement(insert(oauth_clients))
BETWEEN = Statement(
    select(oauth_clients)
    .where(oauth_clients.c.created_at >= bindparam("first"), oauth_clients.c.created_at < bindparam("end"))
    .where(oauth_clients.c.name != "nobody")
    .order_by(oauth_clients.c.created_at.desc())
    .limit(bindparam("at_most", type_=Integer))
)
NAMED = Statement(select(workspaces.c.id).where(workspaces.c.name == bindparam("the_name")))
BROKEN = Statement(select(text("nonsense")).where(workspaces.c.name == bindparam("the_name")))


def query_between(first: int, end: int, at_most: int = 50) -> Query[list[dict[str, Any]]]:
    values = {"first": first, "end": end, "at_most": at_most}
    return Query(BETWEEN, values, lambda rows: [row._asdict() for row in rows])


def query_named(name: str) -> Query[list[Any]]:
    return Query(NAMED, {"the_name": name}, list)


def make_client(number: int) -> dict[str, Any]:
    return {"id": str(number), "name": f"n{number}", "redirect_uris": [f"u{number}"], "created_at": number}


@pytest.fixture
async def filled_store(store: Store) -> Store:
    await store.write(INSERT.execute_each, [make_client(number) for number in range(10)])
    return store


async def test_each_gets_his_own_answer(filled_store: Store) -> None:
    answers = await asyncio.gather(
        *(filled_store.run_query(query_between(n, n + 3)) for n in range(12)), filled_store.run_query(query_named("x"))
    )
    assert answers[:12] == [[make_client(m) for m in range(min(n + 2, 9), n - 1, -1)] for n in range(12)]
    assert answers[12] == []
    assert await filled_store.run_query(query_between(0, 10, 2)) == [make_client(9), make_client(8)]


async def test_a_question_sees_what_was_committed_before_it(store: Store) -> None:
    for number in range(5):
        await store.write(INSERT.execute_each, [make_client(number)])
        assert len(await store.run_query(query_between(0, 10))) == number + 1


async def test_what_the_database_refuses_of_one_harms_no_other(filled_store: Store, engine: str) -> None:
    names = ["a", "a\0", "b"] if engine == "postgresql" else ["a", 1 << 70, "b"]
    answers: list[Any] = await asyncio.gather(
        *(filled_store.run_query(query_named(name)) for name in names), return_exceptions=True
    )
    assert [answers[0], answers[2]] == [[], []]
    assert isinstance(answers[1], StoreError | OverflowError)


async def test_what_is_raised_where_an_answer_is_made_reaches_its_caller(filled_store: Store) -> None:
    def refuse(rows: list[Any]) -> None:
        raise LookupError("not this one")

    wrong = Query(NAMED, {"the_name": "x"}, refuse)
    answers = await asyncio.gather(
        filled_store.run_query(wrong), filled_store.run_query(query_named("x")), return_exceptions=True
    )
    assert [str(answers[0]), answers[1]] == ["not this one", []]


async def test_a_broken_statement_is_a_defect_and_harms_no_other(filled_store: Store) -> None:
    broken: Query[Any] = Query(BROKEN, {"the_name": "x"}, list)
    answers: list[Any] = await asyncio.gather(
        *(filled_store.run_query(broken) for _ in range(3)),
        filled_store.run_query(query_named("x")),
        return_exceptions=True,
    )
    assert [type(answer).__name__ for answer in answers[:3]] in (["StoreError"] * 3, ["UndefinedColumnError"] * 3)
    assert answers[3] == []
    assert await filled_store.run_query(query_named("x")) == []


async def test_who_does_not_wait_any_more_harms_nobody(filled_store: Store) -> None:
    callers = [asyncio.create_task(filled_store.run_query(query_between(n, n + 1))) for n in range(8)]
    await asyncio.sleep(0)
    for caller in callers[::2]:
        caller.cancel()
    answers = await asyncio.gather(*callers, return_exceptions=True)
    assert answers[1::2] == [[make_client(n)] for n in range(1, 8, 2)]


async def test_closing_waits_for_what_was_asked(url: str) -> None:
    store = await open_store(url)
    callers = [asyncio.ensure_future(store.run_query(query_named("x"))) for _ in range(20)]
    await asyncio.sleep(0)
    await store.close()
    assert await asyncio.gather(*callers) == [[]] * 20
    with pytest.raises(StoreError, match="closed"):
        await store.run_query(query_named("x"))


async def test_no_question_writes(filled_store: Store) -> None:
    sneaked = Query(Statement(insert(oauth_clients).returning(oauth_clients.c.id)), make_client(99), list)
    for count in (1, 2):
        answers = await asyncio.gather(*(filled_store.run_query(sneaked) for _ in range(count)), return_exceptions=True)
        assert all(
            isinstance(answer, StoreError | DBAPIError) or "Error" in type(answer).__name__ for answer in answers
        )
    assert await filled_store.run_query(query_between(99, 100)) == []
