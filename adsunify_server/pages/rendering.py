"""Renders pages from templates, with headers that forbid framing, sniffing and scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aiohttp import web
from attrs import frozen

from adsunify.networks.registry import get_adapter
from adsunify.review.completion import get_operation_state
from adsunify.values.exact_json import Json, dumps
from adsunify.values.money import group_digits

from . import wording
from .chart import format_share

if TYPE_CHECKING:
    from jinja2 import Environment

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action {targets}; "
    "frame-ancestors 'none'; base-uri 'none'"
)
SECURITY_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
ASSET_TYPES: Mapping[str, str] = {"style.css": "text/css", "icon.svg": "image/svg+xml"}
"""Files that pages load, and their media types."""


@frozen
class Asset:
    """A file that browsers may cache for ever: its path changes with its content."""

    path: str
    body: bytes
    media_type: str

    async def serve(self, request: web.Request) -> web.Response:
        """Answer with the file."""
        headers = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
        return web.Response(body=self.body, content_type=self.media_type, headers=headers)


def _load_asset(name: str, media_type: str) -> Asset:
    body = files("adsunify_server").joinpath("templates", name).read_bytes()
    stem, _, suffix = name.partition(".")
    return Asset(f"/{stem}-{hashlib.sha256(body).hexdigest()[:12]}.{suffix}", body, media_type)


ASSETS = {name: _load_asset(name, media_type) for name, media_type in ASSET_TYPES.items()}


def render_page(template: str, status: int = 200, targets: str = "'self'", **values: Any) -> web.Response:
    """Render a page. ``targets``: where its forms may lead, redirects included."""
    text = _make_environment().get_template(template).render({"visit": None, **values})
    headers = {**SECURITY_HEADERS, "Content-Security-Policy": CONTENT_SECURITY_POLICY.format(targets=targets)}
    return web.Response(status=status, text=text, content_type="text/html", headers=headers)


def render_notice(status: int, title: str, text: str) -> web.Response:
    """Render a page of one sentence for a person who is not signed in."""
    answer = render_page("notice.html", status, title=title, text=text)
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


@cache
def _make_environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only servers that show pages load it

    environment = Environment(
        loader=PackageLoader("adsunify_server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"assets": ASSETS, "wording": wording, "operation_state": get_operation_state}
    environment.filters |= {
        "network": _network_title,
        "at": _format_instant,
        "day": _format_day,
        "spelled": format_value,
        "words": _code_to_words,
        "share": format_share,
        "grouped": group_digits,
    }
    return environment


def _network_title(network: str) -> str:
    return get_adapter(network).network.title


def _format_instant(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%-d %b %Y, %H:%M} UTC"


def _format_day(instant: str) -> str:
    return f"{datetime.fromisoformat(instant):%-d %b %Y}"


def format_value(value: Json) -> str:
    """Format a JSON value for readers: text as it is, other values as JSON with one member per line."""
    return value if isinstance(value, str) else _format_indented(value, "")


def _format_indented(value: Json, margin: str) -> str:
    deeper = margin + "  "
    if isinstance(value, Mapping) and value:
        members = [
            f"{deeper}{_format_plain(name)}: {_format_indented(member, deeper)}" for name, member in value.items()
        ]
        return "{\n" + ",\n".join(members) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(deeper + _format_indented(member, deeper) for member in value) + f"\n{margin}]"
    return _format_plain(value)


def _format_plain(value: Json) -> str:
    """Format a scalar as JSON without escaping letters."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return dumps(value)


def _code_to_words(code: str) -> str:
    """Turn a code such as ``needs_reauth`` or ``adGroup`` into words."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in code)
    return spaced.replace("_", " ").strip()
