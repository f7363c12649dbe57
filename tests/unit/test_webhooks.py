"""Signatures: what we sign verifies, nothing else does, and only one kind of error ever comes out."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest
import stripe
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.webhooks import WebhookVerificationError, sign, verify

NOW = 1_800_000_000
EVENT = "01934f5c-7c0e-7000-8000-000000000001"
SECRET = "whsec_" + "s" * 40
BODY = b'{"id":"x","type":"operation.succeeded","note":"\xc3\xa9"}'
unhurried = settings(deadline=None)


def headers(signature: object = None, event: object = EVENT) -> dict[str, object]:
    return {"Service-Event-Id": event, "Service-Signature": signature or sign(BODY, EVENT, SECRET, NOW)}


def expect_refusal(*arguments: object, **named: object) -> str:
    with pytest.raises(WebhookVerificationError) as error:
        verify(*arguments, **named)
    return str(error.value)


def test_signature_is_the_documented_one():
    signature = sign(b"{}", "e-1", "secret", 1_700_000_000)
    # echo -n '1700000000.e-1.{}' | openssl dgst -sha256 -hmac secret
    assert signature == "t=1700000000,v1=91c0e0d12075ef48ba33400a0327c2deeb45a3654abeaf8a105cd3a5c17d76a9"


@pytest.mark.parametrize("style", [str, str.lower, str.upper, str.title])
def test_verify_returns_the_event_id_whatever_the_case_of_names(style):
    named = {style(name): value for name, value in headers().items()}
    assert verify(BODY, named, SECRET, NOW) == EVENT


@pytest.mark.parametrize(("skew", "accepted"), [(-301, False), (-300, True), (0, True), (300, True), (301, False)])
def test_window_has_two_sides(skew, accepted):
    for now in (NOW + skew, float(NOW + skew), datetime.fromtimestamp(NOW + skew, UTC)):
        if accepted:
            assert verify(BODY, headers(), SECRET, now) == EVENT
        else:
            assert "5 minutes" in expect_refusal(BODY, headers(), SECRET, now)


def test_the_clock_is_the_default():
    assert "5 minutes" in expect_refusal(BODY, headers(), SECRET)
    signature = sign(BODY, EVENT, SECRET, int(datetime.now(UTC).timestamp()))
    assert verify(BODY, headers(signature), SECRET) == EVENT


def test_rotation_accepts_several_secrets_and_several_signatures():
    new, old = (sign(BODY, EVENT, secret, NOW).partition(",")[2] for secret in ("new", "old"))
    both = headers(f"t={NOW},{new},{old},v0=other")
    assert verify(BODY, both, "old", NOW) == verify(BODY, both, "new", NOW) == EVENT
    assert verify(BODY, headers(f"t={NOW},{old}"), ["new", "old"], NOW) == EVENT
    assert "no signature matches" in expect_refusal(BODY, both, ["other", "another"], NOW)


def test_the_event_id_is_signed_and_cannot_borrow_from_the_body():
    body = b"part.rest"
    signature = sign(body, EVENT, SECRET, NOW)
    assert verify(body, headers(signature), SECRET, NOW) == EVENT
    assert "malformed" in expect_refusal(b"rest", headers(signature, f"{EVENT}.part"), SECRET, NOW)
    assert "no signature" in expect_refusal(body, headers(signature, "other"), SECRET, NOW)
    with pytest.raises(ValueError, match="contains a dot"):
        sign(body, "a.b", SECRET, NOW)
    with pytest.raises(ValueError, match="is empty"):
        sign(body, EVENT, "", NOW)


V1 = sign(BODY, EVENT, SECRET, NOW).partition(",")[2]


@pytest.mark.parametrize(
    "signature",
    [
        f"t={NOW},t={NOW},{V1}",
        f"t={NOW},t=,{V1}",
        V1,
        f"t={NOW}",
        f"t=,{V1}",
        f"t=-{NOW},{V1}",
        f"t={NOW}.0,{V1}",
        f"t=+{NOW},{V1}",
        f"t= {NOW},{V1}",
        f"t={'9' * 4000},{V1}",
        f"t={NOW},{V1.upper()}",
        f"t={NOW},{V1[:-1]}",
        f"t={NOW},v1=é",
        f"t={NOW},v1=\ud800",
        f"t=١٨٠٠٠٠٠٠٠٠,{V1}",
        f"t={NOW},{V1}" + "," * 5000,
        f"t={NOW},v1",
        "\0",
        5,
        b"t=1,v1=2",
        ["t=1"],
        {"t": 1},
    ],
)
def test_malformed_signatures_are_refused(signature):
    expect_refusal(BODY, headers(signature), SECRET, NOW)


@pytest.mark.parametrize(
    "arguments",
    [
        (BODY.decode(), headers(), SECRET, NOW),
        (None, headers(), SECRET, NOW),
        (BODY, {}, SECRET, NOW),
        (BODY, None, SECRET, NOW),
        (BODY, [("Service-Event-Id", EVENT)], SECRET, NOW),
        (BODY, {1: 2, b"service-event-id": b"3"}, SECRET, NOW),
        (BODY, headers(event=""), SECRET, NOW),
        (BODY, headers(event="e" * 10**6), SECRET, NOW),
        (BODY, headers(event="\ud800"), SECRET, NOW),
        (BODY, headers(event=7), SECRET, NOW),
        (BODY, headers(), "", NOW),
        (BODY, headers(), [], NOW),
        (BODY, headers(), [""], NOW),
        (BODY, headers(), [None], NOW),
        (BODY, headers(), None, NOW),
        (BODY, headers(), 5, NOW),
        (BODY, headers(), b"bytes", NOW),
        (BODY, headers(), "\ud800", NOW),
        (BODY, headers(), SECRET, "soon"),
        (BODY, headers(), SECRET, float("nan")),
        (BODY, headers(), SECRET, float("inf")),
        (BODY, headers(), SECRET, 10**400),
        (BODY, headers(), SECRET, Decimal("sNaN")),
        (BODY, headers(), SECRET, datetime(2027, 1, 1)),
    ],
)
def test_nonsense_is_refused_with_the_one_error(arguments):
    expect_refusal(*arguments)


@unhurried
@given(st.data())
def test_no_mutation_verifies_or_raises_anything_else(data):
    """One character of a header, one byte of the body, or the secret changed: refused, always in the same way."""

    def mutate_text(text):
        empty = text[:0]
        position = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        insert = data.draw(st.binary(max_size=3) if isinstance(empty, bytes) else st.text(max_size=3))
        return text[:position] + insert + text[position + cut :]

    which = data.draw(st.sampled_from(["body", "event", "signature", "secret"]))
    parts = {"body": BODY, "event": EVENT, "signature": sign(BODY, EVENT, SECRET, NOW), "secret": SECRET}
    before = dict(parts)
    parts[which] = mutate_text(parts[which])
    call = (parts["body"], headers(parts["signature"], parts["event"]), parts["secret"], NOW)
    if parts == before or (which == "signature" and f"t={NOW}" in parts["signature"] and V1 in parts["signature"]):
        return  # nothing changed, or only a part of no known scheme was added
    expect_refusal(*call)


@unhurried
@given(
    st.binary(),
    st.from_regex("[0-9A-Za-z_-]{1,40}", fullmatch=True),
    st.text("abc", min_size=1),
    st.integers(0, 10**11),
)
def test_what_is_signed_verifies_here_and_at_stripe(body, event, secret, at):
    signature = sign(body, event, secret, at)
    assert verify(body, headers(signature, event), secret, at) == event
    try:
        text = f"{event}.{body.decode()}"
    except UnicodeDecodeError:
        return  # stripe reads text
    assert stripe.WebhookSignature.verify_header(text, signature, secret)


def test_only_the_standard_library_is_imported():
    script = "import sys; old = set(sys.modules); import adsunify.webhooks; print(*(set(sys.modules) - old))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert foreign == {"adsunify"}
