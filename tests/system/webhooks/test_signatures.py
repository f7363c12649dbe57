"""What ``verify`` accepts: nothing that was changed; and what it needs: nothing but Python."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import stripe

import adsunify
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, WebhookVerificationError, sign, verify

from .mutations import BODY, EVENT, NOW, SECRET, verify_mutations


def test_twenty_thousand_changed_deliveries() -> None:
    """The small version of a million (``nox -s webhooks``): no other error, nothing false accepted."""
    counted = verify_mutations(20_000, seed=time.time_ns())
    assert counted["refused"] > 19_000


def test_it_runs_where_nothing_is_installed() -> None:
    """In an interpreter without any site directory: no third-party module can be loaded, and none is."""
    home = Path(adsunify.__file__).parent / "webhooks.py"
    script = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("webhooks", {str(home)!r})
webhooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(webhooks)
headers = {{webhooks.EVENT_ID_HEADER: "e", webhooks.SIGNATURE_HEADER: webhooks.sign(b"x", "e", "s", 1)}}
assert webhooks.verify(b"x", headers, "s", 1) == "e"
try:
    webhooks.verify(b"y", headers, "s", 1)
except webhooks.WebhookVerificationError as refused:
    print(refused)
foreign = {{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names - {{"__main__", "webhooks"}}
assert not foreign, foreign
"""
    bare = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert "no signature matches" in bare.stdout


def test_stripe_agrees() -> None:
    """Stripe's verifier takes our signature over the event id, a dot and the body, and refuses what is old."""
    now = int(time.time())
    text = f"{EVENT}.{BODY.decode()}"
    assert stripe.WebhookSignature.verify_header(text, sign(BODY, EVENT, SECRET, now), SECRET, 300)
    for skew in (-301, -86_400):
        with pytest.raises(stripe.SignatureVerificationError, match="outside the tolerance"):
            stripe.WebhookSignature.verify_header(text, sign(BODY, EVENT, SECRET, now + skew), SECRET, 300)
    for changed in (text + " ", text.replace(EVENT, EVENT[::-1])):
        with pytest.raises(stripe.SignatureVerificationError, match="No signatures found"):
            stripe.WebhookSignature.verify_header(changed, sign(BODY, EVENT, SECRET, now), SECRET, 300)


def test_stripe_takes_what_comes_from_tomorrow_and_we_do_not() -> None:
    now = int(time.time())
    tomorrow = sign(BODY, EVENT, SECRET, now + 86_400)
    assert stripe.WebhookSignature.verify_header(f"{EVENT}.{BODY.decode()}", tomorrow, SECRET, 300)
    with pytest.raises(WebhookVerificationError, match="5 minutes"):
        verify(BODY, {EVENT_ID_HEADER: EVENT, SIGNATURE_HEADER: tomorrow}, SECRET)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"payload": "text"}, "bytes"),
        ({"payload": bytearray(BODY)}, "bytes"),
        ({"headers": {}}, "Service-Event-Id is missing"),
        ({"headers": {EVENT_ID_HEADER: EVENT}}, "Service-Signature is missing"),
        ({"headers": {EVENT_ID_HEADER: EVENT, SIGNATURE_HEADER: "v1=00"}}, "it reads t=<unix seconds>,v1=<hex>"),
        ({"headers": {EVENT_ID_HEADER: "a.b", SIGNATURE_HEADER: f"t={NOW},v1=00"}}, "Service-Event-Id is malformed"),
        ({"secret": "another"}, "no signature matches"),
        ({"secret": ""}, "empty"),
        ({"now": NOW + 301}, "5 minutes"),
        ({"now": NOW - 301}, "5 minutes"),
        ({"now": "noon"}, "malformed"),
    ],
)
def test_a_refusal_says_why(changed: dict[str, Any], why: str) -> None:
    arguments: dict[str, Any] = {
        "payload": BODY,
        "headers": {EVENT_ID_HEADER: EVENT, SIGNATURE_HEADER: sign(BODY, EVENT, SECRET, NOW)},
        "secret": SECRET,
        "now": NOW,
    }
    assert verify(**arguments) == EVENT
    with pytest.raises(WebhookVerificationError, match=why):
        verify(**(arguments | changed))
