"""A browser without JavaScript: it keeps cookies, reads forms as they stand, fills them in and sends them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from attrs import define, field

from adsunify.service.users import hash_password
from adsunify.store import people
from tests.server.served import Served

PASSWORD = "correct horse"
VOID = {"meta", "link", "input", "br", "wbr", "rect", "line", "circle", "polyline", "animate"}


@define
class Form:
    """A form as it stands on a page. ``fields``: what is sent if nothing is changed; ``buttons``: text, name, value."""

    method: str
    action: str
    fields: dict[str, str] = field(factory=dict)
    offered: dict[str, set[str]] = field(factory=dict)
    buttons: list[list[str]] = field(factory=list)


class Page(HTMLParser):
    """What a person (or a screen reader) finds on a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: dict[str, str] = {}
        self.labels: set[str] = set()
        self.inputs: list[dict[str, str]] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self._form: Form | None = None
        self._select = ""
        self._area = ""
        self._link: str | None = None
        self._wrapping = 0
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "form":
            self._form = Form(attributes.get("method", "get"), attributes.get("action", ""))
            self.forms.append(self._form)
        elif tag == "a":
            self._link = attributes.get("href", "")
        elif tag == "label" and "for" in attributes:
            self.labels.add(attributes["for"])
        elif tag in ("input", "textarea", "select") and attributes.get("type") != "hidden":
            self.inputs.append({**attributes, "wrapped": "yes" if "label" in self.open else ""})
        if self._form is not None:
            self._take(tag, attributes)

    def _take(self, tag: str, attributes: dict[str, str]) -> None:
        assert self._form is not None
        name, value = attributes.get("name", ""), attributes.get("value", "")
        if tag == "select":
            self._select = name
        elif tag == "option":
            self._form.offered.setdefault(self._select, set()).add(value)
            if "selected" in attributes or self._select not in self._form.fields:
                self._form.fields[self._select] = value
        elif tag == "button":
            self._form.buttons.append(["", name, value])
        elif tag == "input" and attributes.get("type") in ("radio", "checkbox"):
            self._form.offered.setdefault(name, set()).add(value)
            if "checked" in attributes:
                self._form.fields[name] = value
        elif tag in ("input", "textarea") and name:
            self._form.fields[name] = value
            self._area = name if tag == "textarea" else ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()
        if tag == "form":
            self._form = None
        elif tag == "a":
            self._link = None

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self._form is not None and self.open and self.open[-1] == "textarea":
            self._form.fields[self._area] += data
        if self._link is not None and data.strip():
            self.links[data.strip()] = self._link
        if self._form is not None and self._form.buttons and "button" in self.open:
            button = self._form.buttons[-1]
            button[0] = " ".join(f"{button[0]} {data}".split())

    @property
    def text(self) -> str:
        """All words of the page, with single spaces."""
        return " ".join(" ".join(self.words).split())

    def form(self, action: str = "", button: str = "") -> Form:
        """The form with this action (its end) and a button of this text."""
        return next(
            form
            for form in self.forms
            if form.action.endswith(action) and (not button or any(button in label[0] for label in form.buttons))
        )


@define
class Browser:
    """One person's browser. ``page``: what it shows; every page of ours is held against what all pages must be."""

    http: httpx.AsyncClient
    base_url: str
    at: str = ""
    status: int = 0
    answer: httpx.Response | None = None

    @property
    def page(self) -> Page:
        assert self.answer is not None
        return Page(self.answer.text)

    @property
    def text(self) -> str:
        return self.page.text

    @property
    def path(self) -> str:
        """Where the browser is, without query."""
        return urlsplit(self.at).path

    async def open(self, address: str, expected: int = 200) -> Page:
        """Open an address, and follow where it leads within the server and the simulated networks."""
        return self.show_answer(await self.http.get(urljoin(self.base_url, address)), expected)

    async def follow(self, link: str) -> Page:
        """Follow the link with this text."""
        return await self.open(urljoin(self.at, self.page.links[link]))

    async def send(
        self,
        values: Mapping[str, str] | None = None,
        *,
        action: str = "",
        button: str = "",
        expected: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> Page:
        """Fill in a form and press its button (the first one, or that with this text)."""
        form = self.page.form(action, button)
        sent = dict(form.fields)
        for name, value in (values or {}).items():
            assert name in sent or name in form.offered, f"no field {name}"
            if name in form.offered:
                assert value in form.offered[name], f"{name} offers {form.offered[name]}"
            sent[name] = value
        pressed = next((button_parts for button_parts in form.buttons if button in button_parts[0]), None)
        if pressed is not None and pressed[1]:
            sent[pressed[1]] = pressed[2]
        address = urljoin(self.at, form.action) if form.action else self.at
        more = {"Origin": self.base_url, "Sec-Fetch-Site": "same-origin", **(headers or {})}
        if form.method == "get":
            return self.show_answer(await self.http.get(address, params=sent), expected)
        return self.show_answer(await self.http.post(address, data=sent, headers=more), expected)

    def show_answer(self, answer: httpx.Response, expected: int) -> Page:
        self.answer, self.at, self.status = answer, str(answer.url), answer.status_code
        assert answer.status_code == expected, answer.text
        if self.at.startswith(self.base_url) and answer.headers["Content-Type"].startswith("text/html"):
            check_markup(answer)
        return self.page

    async def sign_in(self, email: str, password: str = PASSWORD) -> None:
        """Sign in as a person does."""
        await self.open("/sign-in")
        await self.send({"email": email, "password": password}, action="/sign-in")
        assert self.path == "/operations"


def check_markup(answer: httpx.Response) -> None:
    """What every page must be: unframeable, scriptless, titled, labelled, in one language."""
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert "base-uri 'none'" in policy and "form-action 'self'" in policy
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    page = Page(answer.text)
    assert page.open == []
    tags = [tag for tag, _ in page.elements]
    assert tags.count("h1") == 1 and tags.count("main") == 1 and tags.count("title") >= 1
    assert ("html", {"lang": "en"}) in page.elements
    assert "script" not in tags and "style" not in tags and "iframe" not in tags
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (tag, attributes)
    for control in page.inputs:
        assert control["wrapped"] or control.get("id") in page.labels, f"no label: {control}"
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids)), ids
    for form in page.forms:
        assert form.method == "get" or form.fields["csrf"]
        assert all(text for text, _, _ in form.buttons)


@asynccontextmanager
async def browser(site: Served) -> AsyncIterator[Browser]:
    """A new browser, without cookies."""
    async with httpx.AsyncClient(trust_env=False, timeout=60, follow_redirects=True) as http:
        yield Browser(http, site.base_url)


async def set_passwords(site: Served) -> None:
    """Give everybody the same password."""
    password_hash = hash_password(PASSWORD)
    for person in site.people.values():
        await site.service.store.write(
            people.set_password, person.actor.user_id, password_hash, site.service.store.clock
        )


def email(name: str, workspace: str = "shop") -> str:
    """The address of a person of the served environment."""
    return f"{name}@{workspace}.example"


def find_elements(page: Page, tag: str, **attributes: Any) -> list[dict[str, str]]:
    """The elements of a page with these attributes."""
    return [element for name, element in page.elements if name == tag and attributes.items() <= element.items()]
