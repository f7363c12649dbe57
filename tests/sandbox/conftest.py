"""A sandbox with one network for each test, and a client that is logged in: of the network in the file's name."""

from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from . import amazon_calls, x_calls
from .amazon_calls import Amazon
from .calls import Clock
from .x_calls import X

FOLDER = Path(__file__).parent
SHORT_LIST = 12
"""A list of so many cases runs as a whole each time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a longer list, leave all but one case of each kind to the session ``exhaustive``."""
    lists: dict[tuple[Path, str], list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and item.path.parent == FOLDER:
            lists.setdefault((item.path, item.originalname), []).append(item)
    for cases in lists.values():
        kinds = set()
        for case, kind in zip(cases, list_kinds([case.callspec.params for case in cases]), strict=True):
            if len(cases) > SHORT_LIST and kind in kinds:
                case.add_marker(pytest.mark.exhaustive)
            kinds.add(kind)


def list_kinds(cases: list[dict[str, object]]) -> list[str]:
    """The kind of each case: what is expected and where, which is all but the parameter that differs most.

    Cases with one parameter are of a kind of their own each.
    """
    texts = [{name: repr(value) for name, value in case.items()} for case in cases]
    varied = max(texts[0], key=lambda name: len({case[name] for case in texts}))
    if len(texts[0]) > 1:
        texts = [{name: text for name, text in case.items() if name != varied} for case in texts]
    return [repr(case) for case in texts]


@pytest.fixture
def calls(request: pytest.FixtureRequest) -> ModuleType:
    """What the tests of the network share: ``test_meta_change.py`` has ``meta_calls.py``."""
    return import_module(f"{__package__}.{request.path.stem.split('_')[1]}_calls")


@pytest.fixture
def clock(calls: ModuleType) -> Clock:
    network_clock: Clock = calls.Clock()
    return network_clock


@pytest.fixture
async def web(calls: ModuleType, clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    async with calls.open_client(clock) as client:
        yield client


@pytest.fixture
async def amazon(clock: Clock) -> AsyncIterator[Amazon]:
    async with amazon_calls.open_client(clock) as client:
        yield client


@pytest.fixture
async def campaign(amazon: Amazon) -> str:
    return await amazon.create_entity("campaigns", amazon_calls.CAMPAIGN)


@pytest.fixture
async def parents(amazon: Amazon, campaign: str) -> dict[str, str]:
    return await amazon_calls.create_parents(amazon, campaign)


@pytest.fixture
async def x(clock: Clock) -> AsyncIterator[X]:
    async with x_calls.open_client(clock) as client:
        yield client
