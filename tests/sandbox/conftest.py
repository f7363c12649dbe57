"""A sandbox with one network for each test, and a client that is logged in: of the network in the file's name."""

from collections import Counter
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

SHORT_LIST = 12
"""A list of so many cases runs as a whole each time."""
EACH = 4
"""Of a longer list, one of so many cases runs each time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most cases of long lists to the session ``exhaustive``."""
    here = [one for one in items if isinstance(one, pytest.Function) and one.path.parent == Path(__file__).parent]
    sizes = Counter((one.path, one.originalname) for one in here)
    numbers: Counter[tuple[Path, str]] = Counter()
    for one in here:
        name = (one.path, one.originalname)
        if sizes[name] > SHORT_LIST and numbers[name] % EACH:
            one.add_marker(pytest.mark.exhaustive)
        numbers[name] += 1


@pytest.fixture
def calls(request: pytest.FixtureRequest) -> ModuleType:
    """What the tests of the network share: ``test_meta_change.py`` has ``meta_calls.py``."""
    return import_module(f"{__package__}.{request.path.stem.split('_')[1]}_calls")


@pytest.fixture
def clock(calls: ModuleType) -> Clock:
    made: Clock = calls.Clock()
    return made


@pytest.fixture
async def web(calls: ModuleType, clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    async with calls.conversation(clock) as client:
        yield client


@pytest.fixture
async def amazon(clock: Clock) -> AsyncIterator[Amazon]:
    async with amazon_calls.connected(clock) as one:
        yield one


@pytest.fixture
async def campaign(amazon: Amazon) -> str:
    return await amazon.made("campaigns", amazon_calls.CAMPAIGN)


@pytest.fixture
async def parents(amazon: Amazon, campaign: str) -> dict[str, str]:
    return await amazon_calls.above(amazon, campaign)


@pytest.fixture
async def x(clock: Clock) -> AsyncIterator[X]:
    async with x_calls.connected(clock) as one:
        yield one
