"""The vault opens what it sealed, for the place it was sealed for, under a key of its ring, and nothing else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from adsunify import encryption
from adsunify.encryption import KeyRing, SecretContext
from adsunify.errors import InvalidInput, VaultError
from adsunify.values.base64url import decode_base64url, encode_base64url

RING = KeyRing({"new": b"n" * 32, "old": b"o" * 32})
PLACE = SecretContext("connections", "row", "workspace", "accessToken")
PLACES = st.builds(SecretContext, st.text(max_size=9), st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
SECRETS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(SECRETS, PLACES)
def test_what_was_sealed_opens(secret: str, place: SecretContext) -> None:
    sealed = encryption.encrypt(RING, place, secret)
    assert encryption.decrypt(RING, place, sealed) == secret
    assert sealed.startswith("new.")
    assert len(secret) < 4 or secret not in sealed


@given(SECRETS)
def test_no_two_ciphertexts_are_alike(secret: str) -> None:
    assert encryption.encrypt(RING, PLACE, secret) != encryption.encrypt(RING, PLACE, secret)


@given(PLACES, PLACES)
def test_a_ciphertext_in_another_place_is_refused(place: SecretContext, other: SecretContext) -> None:
    assume(place != other)
    sealed = encryption.encrypt(RING, place, "secret")
    with pytest.raises(VaultError):
        encryption.decrypt(RING, other, sealed)


def test_moving_a_boundary_makes_another_place() -> None:
    sealed = encryption.encrypt(RING, SecretContext("a", "bc", "d", "e"), "secret")
    with pytest.raises(VaultError):
        encryption.decrypt(RING, SecretContext("ab", "c", "d", "e"), sealed)


@given(st.data())
def test_an_altered_ciphertext_is_refused(data: st.DataObject) -> None:
    sealed = encryption.encrypt(RING, PLACE, data.draw(SECRETS))
    position = data.draw(st.integers(0, len(sealed) - 1))
    altered = sealed[:position] + data.draw(st.characters()) + sealed[position + 1 :]
    assume(altered != sealed)
    with pytest.raises(VaultError):
        encryption.decrypt(RING, PLACE, altered)


@given(st.text(max_size=80))
def test_anything_else_is_refused(text: str) -> None:
    for tried in (text, f"new.{text}", "new." + "A" * len(text)):
        with pytest.raises(VaultError):
            encryption.decrypt(RING, PLACE, tried)


def test_every_bit_counts() -> None:
    sealed = encryption.encrypt(RING, PLACE, "secret")
    raw = decode_base64url(sealed.removeprefix("new."))
    for bit in range(len(raw) * 8):
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(VaultError):
            encryption.decrypt(RING, PLACE, "new." + encode_base64url(bytes(flipped)))


def test_rotation() -> None:
    places = [evolve(PLACE, row=str(n)) for n in range(20)]
    old = KeyRing({"old": RING.keys["old"]})
    sealed = {place: encryption.encrypt(old if n % 2 else RING, place, f"secret {n}") for n, place in enumerate(places)}
    again = {place: encryption.reencrypt(RING, place, text) for place, text in sealed.items()}
    assert [place for place in places if again[place] != sealed[place]] == places[1::2]
    only_new = KeyRing({"new": RING.keys["new"]})
    for n, place in enumerate(places):
        assert encryption.decrypt(only_new, place, again[place]) == f"secret {n}"
    with pytest.raises(VaultError, match="not in the key ring"):
        encryption.decrypt(only_new, places[1], sealed[places[1]])


def test_rings_are_read_as_they_are_written() -> None:
    ring = encryption.make_key_ring(encryption.make_key_ring())
    assert len(ring.keys) == 2
    assert encryption.parse_key_ring(ring.to_text()) == ring
    assert encryption.parse_key_ring(f" {ring.to_text()}\n").newest_id == ring.newest_id
    sealed = encryption.encrypt(ring, PLACE, "secret")
    assert encryption.decrypt(encryption.make_key_ring(ring), PLACE, sealed) == "secret"


KEY = "A" * 43


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        KEY,
        f":{KEY}",
        "a:",
        "a:AAAA",
        f"a:{KEY}A",
        f"a:{KEY},",
        f"a:{KEY},a:{KEY}",
        f"a b:{KEY}",
        f"a.b:{KEY}",
        "a:" + "*" * 43,
        "a:" + "\u00e9" * 43,
        f"{'a' * 33}:{KEY}",
    ],
)
def test_other_rings_are_refused_without_showing_them(wrong: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        encryption.parse_key_ring(wrong)
    assert "base64url of 32 bytes" in str(refused.value)
    assert KEY not in str(refused.value)


def test_a_ring_does_not_show_its_keys() -> None:
    assert "nnnn" not in repr(RING)
    assert encode_base64url(RING.keys["new"]) not in repr(RING)


def test_the_key_file_is_made_once_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "ads.db.key"
    ring, is_new = encryption.load_or_create_key_file(path)
    assert is_new
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert encryption.load_or_create_key_file(path) == (ring, False)
    assert [file.name for file in tmp_path.iterdir()] == ["ads.db.key"]


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    encryption.load_or_create_key_file(path)
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="600"):
        encryption.load_or_create_key_file(path)


def test_a_key_is_put_in_front_of_those_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ads.db.keys"
    with pytest.raises(InvalidInput, match="no key file"):
        encryption.add_key(path)
    before, _ = encryption.load_or_create_key_file(path)
    ring = encryption.add_key(path)
    assert list(ring.keys)[1:] == list(before.keys)
    assert encryption.load_or_create_key_file(path) == (ring, False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "ads.db.keys.new").touch()
    with pytest.raises(InvalidInput, match="another process"):
        encryption.add_key(path)
    assert encryption.load_or_create_key_file(path) == (ring, False)


def test_a_file_that_is_no_ring_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.touch(0o600)
    path.write_text("nonsense")
    with pytest.raises(InvalidInput):
        encryption.add_key(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["nonsense"]


@given(SECRETS, st.sampled_from(["table", "row", "workspace", "field"]))
def test_two_ciphertexts_that_change_places_are_refused(secret: str, part: str) -> None:
    first, other = PLACE, evolve(PLACE, **{part: "another"})
    sealed = encryption.encrypt(RING, first, secret), encryption.encrypt(RING, other, secret)
    for place, text in zip((other, first), sealed, strict=True):
        with pytest.raises(VaultError):
            encryption.decrypt(RING, place, text)
        with pytest.raises(VaultError):
            encryption.reencrypt(KeyRing({"newer": b"x" * 32, **RING.keys}), place, text)


@pytest.mark.parametrize("seals", [10_000, pytest.param(1_000_000, marks=pytest.mark.exhaustive)])
def test_no_nonce_comes_twice(seals: int) -> None:
    """Seals under one key: what is drawn has 96 bits, so that a repeat would be a defect."""
    nonces = {encryption.encrypt(RING, PLACE, "")[4:20] for _ in range(seals)}
    assert len(nonces) == seals
