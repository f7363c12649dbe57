"""Describes in words the content that the creates of a plan send: audience, texts, links and pictures.

It reads the native bodies, because the execution sends them. It sends no request, so places that a network names by an
id are shown as ids. Amounts and times are described by :mod:`.amounts` and :mod:`.created_entities`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import frozen

from adsunify.values.countries import load_country_names
from adsunify.values.exact_json import Json

Subject = Literal["Audience", "Texts", "Link", "Picture"]
SUBJECTS: tuple[Subject, ...] = ("Audience", "Texts", "Link", "Picture")
AUDIENCE_PATTERN = re.compile(
    r"target|geo|locat|countr|region|keyword|criteri|interest|audience|languages|locales|placement|"
    r"platforms|devices|(^|_)(age|gender)|demographic",
    re.IGNORECASE,
)
PICTURE_PATTERN = re.compile(r"image|picture|thumb|video|media|icon|logo", re.IGNORECASE)
TEXT_PATTERN = re.compile(
    r"^(headlines?|descriptions?|title|body|message|text|commentary|brand_?name|copy|caption|post_?text|ad_?text)$",
    re.IGNORECASE,
)
"""Match names of native members. Audience wins over pictures, and pictures win over texts."""
HEADLINE_PLACES = (("link_data", "name"),)
"""Members that hold a headline under another name (Meta, "Ad Creative Link Data")."""
NOT_AUDIENCE_PATTERN = re.compile(
    r"status|state$|name$|^id$|ad_?group|correlation|partial|amount|currency|bid|account|campaign|budget", re.I
)
"""Match last names inside an audience that only say how the network files the member."""
WEB_ADDRESS_PATTERN = re.compile(r"https?://\S+")
PLACE_PATTERN = re.compile(r"geo|locat|countr|region", re.IGNORECASE)
LANGUAGE_PATTERN = re.compile(r"languages?|locale", re.IGNORECASE)
"""Match names of members with places, and names of members whose codes are languages."""
NATIVE_TEXT_PATTERN = re.compile(
    r"yes|no|0|1|[A-Z][A-Z0-9]*_[A-Z0-9_]+|[A-Z]{3,}|urn:.*|[A-Za-z]+/[0-9]+|[0-9a-f]{20,}"
)
"""Matches texts of an audience that only say how the network stores it: flags, codes in capitals, resource names."""
COUNTRY_PATTERN = re.compile(r"(.*[:/])?([A-Za-z]{2})")


@frozen
class Fact:
    """One value in words: its subject, the native member it comes from (words), and the text."""

    subject: Subject
    member: str
    text: str

    @property
    def is_plain(self) -> bool:
        """Whether the text says something to a person who does not know the network: no code, flag or native id."""
        return self.subject != "Audience" or not NATIVE_TEXT_PATTERN.fullmatch(self.text)


def describe_content(plan: Mapping[str, Any]) -> dict[Subject, list[Fact]]:
    """Describe the content that the creates of a plan send. ``plan`` is as the API shows it.

    Subjects without a fact are left out, and so are facts that repeat. Plain facts come first.
    """
    facts = dict.fromkeys(
        fact
        for step in plan.get("steps", ())
        if step["action"] == "create"
        for fact in _find_facts(step["body"], (step["kind"],) if step["kind"] == "keyword" else ())
    )
    plain_first = sorted(facts, key=lambda fact: not fact.is_plain)
    by_subject = {subject: [fact for fact in plain_first if fact.subject == subject] for subject in SUBJECTS}
    return {subject: own_facts for subject, own_facts in by_subject.items() if own_facts}


def _find_facts(value: Json, names: tuple[str, ...]) -> Iterator[Fact]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _find_facts(member, (*names, str(name)))
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _find_facts(member, names)
    elif names and value is not None and value != "":
        fact = _make_fact(names, value)
        if fact is not None:
            yield fact


def _make_fact(names: tuple[str, ...], value: Json) -> Fact | None:
    text, last = _to_text(value), names[-1]
    member = _to_words(last)
    if WEB_ADDRESS_PATTERN.fullmatch(text):
        if any(PICTURE_PATTERN.search(name) for name in names):
            file_name = urlsplit(text).path.rpartition("/")[2]
            return Fact("Picture", member, f"{file_name}: {text}" if file_name else text)
        return Fact("Link", member, text)
    if names[-2:] in HEADLINE_PLACES:
        return Fact("Texts", "headline", text)
    if TEXT_PATTERN.fullmatch(last) or (last == "text" and len(names) > 1):
        is_keyword = any("keyword" in name.lower() for name in names)
        return Fact("Audience", "keyword", text) if is_keyword else Fact("Texts", _to_words(_name_text(names)), text)
    if any(AUDIENCE_PATTERN.search(name) for name in names) and not NOT_AUDIENCE_PATTERN.search(last):
        is_place = any(PLACE_PATTERN.search(name) for name in names) and isinstance(value, str)
        country = COUNTRY_PATTERN.fullmatch(text) if is_place and not LANGUAGE_PATTERN.search(last) else None
        name = load_country_names().get(country[2].upper()) if country else None
        return Fact("Audience", member, f"{name} ({text})" if name else text)
    if PICTURE_PATTERN.search(last) and isinstance(value, str):
        return Fact("Picture", member, text)
    return None


def _name_text(names: tuple[str, ...]) -> str:
    """Return the name of a text: ``headlines`` for ``headlines.0.text``."""
    return names[-2] if names[-1] == "text" and len(names) > 1 and TEXT_PATTERN.fullmatch(names[-2]) else names[-1]


def _to_text(value: Json) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _to_words(name: str) -> str:
    """Turn a native name into words: ``ageMin`` and ``age_min`` are ``age min``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower().strip()
