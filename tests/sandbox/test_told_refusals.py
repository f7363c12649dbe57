"""A told 401 has the shape in which each network refuses a token, as its documentation shows it."""

import httpx
import pytest

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks import load_networks
from tests.networks.samples import get_samples


@pytest.mark.parametrize("network", load_networks())
async def test_a_told_401_is_the_refusal_of_a_token(network: str) -> None:
    refusal = get_samples(network).token_refusal
    async with sandbox() as running, httpx.AsyncClient(base_url=running.url) as web:
        fault = {"network": network, "fault": "status", "value": 401}
        assert (await web.post("/_sandbox/faults", json=fault)).status_code == 200
        answer = await web.request(refusal.method, refusal.path)
    assert answer.status_code == refusal.status
    assert answer.headers.get("WWW-Authenticate", "") == refusal.challenge
    for place, value in refusal.members.items():
        member = answer.json()
        for name in place.split("."):
            member = member[name]
        assert member == value, (place, answer.text)
