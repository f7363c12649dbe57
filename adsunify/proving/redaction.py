"""Removes secrets and the names, addresses and ids of people from recordings, with the same replacements in a case."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator, Mapping
from urllib.parse import quote, quote_plus, unquote

from attrs import define, field

from adsunify.http.redaction import SECRET_NAME_PATTERN
from adsunify.values.exact_json import Json, dumps

_EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}\.[A-Za-z]{2,24}")
_NAME_MEMBER = re.compile(
    r"(?:^|_)(?:name|title|company|business|owner|phone|address)$|Name$|Title$|phone_?number$", re.I
)
_PERSON_MEMBER = re.compile(r"^(?:user|member|person)_?id$|(?:created|updated|modified)_?by(?:_?user)?(?:_?id)?$", re.I)
_PERSON_URN = re.compile(r"urn:li:(?:person|member):[\w-]+")
_PARAMETER = re.compile(r"[?&;]([\w.-]{1,60})=([^&;#\s\"'<>]+)")
_SIGNATURE_NAME = re.compile(r"signature|(?:^|[_-])sig$", re.I)
"""Parameters of an address with a time limit, such as the address of a report file. The address alone gives access."""
_CONSTANT = re.compile(r"[A-Z0-9_]+|[0-9.:-]+")
_BEARER = re.compile(r"bearer\s+(?!redacted-)[\w.|~+/=-]{8,}|\"authorization\"", re.I)
MIN_SECRET_LENGTH = 6
EMAIL = "person@example.com"


@define
class Redactor:
    """Redacts the cases of one proof; the same value gets the same replacement everywhere.

    Attributes:
        secrets: values that no recording may contain, such as tokens. Renewed tokens are added.
        own_texts: texts that the proof sent itself, which stay.
        replaced: value -> its replacement.
    """

    secrets: set[str]
    own_texts: Collection[str] = ()
    replaced: dict[str, str] = field(factory=dict)

    def redact(self, case: Mapping[str, Json], *, hides_names: bool) -> Json:
        """Return a copy of a case without secrets and e-mail addresses, and without names if ``hides_names``."""
        for value in [*self._list_secret_values(case.get("exchange")), *sorted(self.secrets)]:
            if len(value) >= MIN_SECRET_LENGTH:
                self.replaced.setdefault(value, f"redacted-{len(self.replaced) + 1}")
        for value in _list_people(case.get("exchange")):
            number, prefix = len(self.replaced) + 1, value.rpartition(":")[0]
            person = str(9_000_000_000 + number) if value.isdecimal() else f"person-{number}"
            self.replaced.setdefault(value, f"{prefix}:{person}" if prefix else person)
        copy: dict[str, Json] = self._copy(case, "", False)
        if hides_names:  # only in responses: the adapter makes the requests
            for position, entry in enumerate(case.get("exchange") or ()):
                copy["exchange"][position]["response"] = self._copy(entry["response"], "", True)
        return copy

    def _list_secret_values(self, value: Json) -> Iterator[str]:
        if isinstance(value, Mapping):
            for name, member in value.items():
                if isinstance(member, str) and _is_secret(name):
                    yield member
                else:
                    yield from self._list_secret_values(member)
        elif isinstance(value, str):
            for name, parameter in _PARAMETER.findall(value):
                if _is_secret(name) or _SIGNATURE_NAME.search(name):
                    yield from (parameter, unquote(parameter))
        elif isinstance(value, list | tuple):
            for member in value:
                yield from self._list_secret_values(member)

    def _copy(self, value: Json, name: str, hides_names: bool) -> Json:
        if isinstance(value, Mapping):
            return {key: self._copy(member, key, hides_names) for key, member in value.items()}
        if isinstance(value, list | tuple):
            return [self._copy(member, name, hides_names) for member in value]
        if hides_names and _PERSON_MEMBER.search(name) and type(value) is int:
            return 0
        if not isinstance(value, str):
            return value
        if hides_names and _is_name(name) and value not in self.own_texts and not _CONSTANT.fullmatch(value):
            return self.replaced.setdefault(f"name {value}", f"Name {len(self.replaced) + 1}")
        return self._replace(value)

    def _replace(self, text: str) -> str:
        for value, replacement in sorted(self.replaced.items(), key=lambda pair: -len(pair[0])):
            if not value.startswith("name "):  # the longest first: a secret may be a part of another one
                for form in {value, quote(value, safe=""), quote_plus(value)}:
                    text = text.replace(form, replacement)
        return _EMAIL.sub(EMAIL, text)


def _is_secret(member: str) -> bool:
    """Whether a member holds a secret; ``authorizationError`` of Google holds a code."""
    return SECRET_NAME_PATTERN.search(member) is not None and not member.lower().endswith("error")


def _list_people(value: Json) -> Iterator[str]:
    """Yield the ids of people in an exchange."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            if isinstance(member, str) and len(member) >= MIN_SECRET_LENGTH and _PERSON_MEMBER.search(name):
                yield member
            else:
                yield from _list_people(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _list_people(member)
    elif isinstance(value, str):
        yield from _PERSON_URN.findall(value)


def _is_name(member: str) -> bool:
    """Whether a member holds a name; the resource names of Google are paths."""
    return _NAME_MEMBER.search(member) is not None and not member.lower().endswith("resourcename")


def find_secret(value: Json, secrets: Collection[str]) -> str | None:
    """Return the forbidden value that a text to be written contains; None without one."""
    text = dumps(value)
    for secret in secrets:
        if len(secret) < MIN_SECRET_LENGTH:
            continue
        forms = {secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode().rstrip("=")}
        if any(form in text for form in forms):
            return "a secret of the connection"
    return "a bearer token" if _BEARER.search(text) else None
