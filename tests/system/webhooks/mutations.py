"""Deliveries changed at random: whatever comes out of ``verify`` is its own error, and nothing false is accepted."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, WebhookVerificationError, sign, verify

NOW = 1_800_000_000
EVENT = "01934f5c-7c0e-7000-8000-000000000001"
SECRET = "whsec_" + "s" * 43
BODY = b'{"id":"01934f5c-7c0e-7000-8000-000000000001","type":"operation.succeeded","note":"\xc3\xa9\x00"}'
V1 = sign(BODY, EVENT, SECRET, NOW).partition(",")[2]
ALPHABET = "0123456789abcdefABCDEF=,.-+_ tv1\t\r\n\0\x7f\xe9\u0661\u00b2\u2003\ud800\U0001f600"
ODD: list[Any] = [None, 0, -1, 1.5, True, b"", b"bytes", "", [], ["t=1"], {}, {"t": 1}, object(), float("nan"), 10**400]


def text(draw: random.Random, value: str) -> str:
    """A text with some characters changed, cut, doubled, moved or turned round."""
    characters = list(value)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(characters) + 1)
        match draw.randrange(7):
            case 0:
                characters[at : at + 1] = [draw.choice(ALPHABET)]
            case 1:
                characters[at:at] = [draw.choice(ALPHABET)] * draw.randint(1, 4)
            case 2:
                del characters[at : at + draw.randint(1, 12)]
            case 3:
                characters[at:at] = characters[max(0, at - draw.randint(1, 40)) : at]
            case 4:
                characters = characters[at:] + characters[:at]
            case 5:
                characters = list("".join(characters).swapcase())
            case 6:
                characters = ["".join(characters), ",", *characters[at:]]
    return "".join(characters)


def data(draw: random.Random, value: bytes) -> bytes:
    """Bytes with one of them flipped, some cut, or some put in."""
    at = draw.randrange(len(value))
    match draw.randrange(4):
        case 0:
            return value[:at] + bytes([value[at] ^ 1 << draw.randrange(8)]) + value[at + 1 :]
        case 1:
            return value[:at] + draw.randbytes(draw.randint(1, 8)) + value[at:]
        case 2:
            return value[:at] + value[at + draw.randint(1, 8) :]
        case _:
            return draw.randbytes(draw.randrange(200))


def call(draw: random.Random) -> tuple[Any, Any, Any, Any]:
    """The arguments of one call, at least one of them changed."""
    body: Any = BODY
    event: Any = EVENT
    signature: Any = f"t={NOW},{V1}"
    secret: Any = SECRET
    now: Any = NOW
    for _ in range(draw.randint(1, 2)):
        match draw.randrange(12):
            case 0 | 1:
                body = data(draw, BODY)
            case 2 | 3 | 4 | 5:
                signature = text(draw, signature) if isinstance(signature, str) else signature
            case 6:
                event = text(draw, EVENT)
            case 7:
                secret = draw.choice([text(draw, SECRET), [text(draw, SECRET), "other"], [], [""], "", None, b"x", 5])
            case 8:
                now = draw.choice([NOW - 301, NOW + 301, NOW - 10**9, NOW + 86_400, 0, -1, 10**12, *ODD[6:]])
            case 9:
                body = draw.choice([BODY.decode(), bytearray(BODY), memoryview(BODY), *ODD])
            case 10:
                event = draw.choice(ODD)
            case 11:
                signature = draw.choice([*ODD, f"t={NOW - draw.choice([301, -301, 86_400])},{V1}", V1, f"t={NOW}"])
    headers: Any = {EVENT_ID_HEADER: event, SIGNATURE_HEADER: signature}
    match draw.randrange(40):
        case 0:
            headers = {name: value for name, value in headers.items() if draw.random() < 0.5}
        case 1:
            headers = draw.choice([None, [], "headers", 7, list(headers.items())])
        case 2:
            headers = {name.lower(): value for name, value in headers.items()}
    return body, headers, secret, now


def true(body: Any, headers: Any, secret: Any, now: Any) -> bool:
    """Whether the call still holds what was signed: the mutation undid itself, or touched no known part."""
    if not isinstance(headers, dict) or type(body) is not bytes or body != BODY:
        return False
    named = {str(name).lower(): value for name, value in headers.items()}
    event, signature = named.get(EVENT_ID_HEADER.lower()), named.get(SIGNATURE_HEADER.lower())
    secrets = [secret] if isinstance(secret, str) else secret if isinstance(secret, list) else []
    known = [
        candidate for candidate in secrets if isinstance(candidate, str) and candidate.rstrip("\0") == SECRET
    ]  # HMAC pads keys with zeros
    if event != EVENT or not known or not isinstance(signature, str) or isinstance(now, bool):
        return False
    parts = signature.split(",")
    return parts[0] == f"t={NOW}" and V1 in parts and isinstance(now, int | float) and abs(NOW - now) <= 300


def verify_mutations(count: int, seed: int) -> dict[str, int]:
    """Verify so many changed deliveries; how many were refused, and how many were still true.

    Raises AssertionError for one that was accepted and is not true, or that raised anything but the one error.
    """
    draw = random.Random(seed)
    counted: Counter[str] = Counter()
    for number in range(count):
        arguments = call(draw)
        try:
            accepted = verify(*arguments)
        except WebhookVerificationError as refused:
            assert str(refused), "a refusal says why"
            counted["refused"] += 1
        except BaseException as problem:
            raise AssertionError(f"seed {seed}, number {number}: {problem!r} for {arguments!r}") from problem
        else:
            assert true(*arguments), f"seed {seed}, number {number}: accepted {arguments!r}"
            assert accepted == EVENT
            counted["true"] += 1
    return dict(counted)
