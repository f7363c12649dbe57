"""OAuth clients whose id is the address of a document that describes them.

Sources: draft-ietf-oauth-client-id-metadata-document-00; MCP 2026-07-28, Client Registration, "Client ID Metadata
Documents". The document is fetched through the guard of :mod:`adsunify.http.safe_fetch`, only for a person who is
signed in, without following a redirect, and cached in the memory of the process for a bounded time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from adsunify.errors import InvalidInput, NotFound
from adsunify.http.safe_fetch import FetchError, FetchResponse, fetch_url, parse_public_url
from adsunify.models.parsing import MAX_VALUES, count_values
from adsunify.service.client_metadata import OAuthError, read_client_metadata
from adsunify.service.core import Service
from adsunify.store.agents import ClientRecord
from adsunify.values.client_ids import MAX_CLIENT_ID_LENGTH
from adsunify.values.exact_json import Json, loads

MAX_DOCUMENT_BYTES = 10 * 1024
"""The draft recommends a limit of at least 5 kB (section 6.6)."""
TIMEOUT_SECONDS = 10.0
MIN_KEPT_MILLISECONDS, MAX_KEPT_MILLISECONDS = 5 * 60 * 1000, 24 * 60 * 60 * 1000
"""The bounds of the caching time that ``Cache-Control`` sets (section 4.4). The minimum covers one consent."""
_JSON_TYPE = re.compile(r"application/(?:[a-z0-9.+-]+\+)?json", re.ASCII)
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age=([0-9]{1,9})(?:$|[,\s])", re.ASCII)
_SECRET_MEMBERS = ("client_secret", "client_secret_expires_at")
"""Section 4.1: a public document cannot hold a secret."""


def is_document_url(client_id: str) -> bool:
    """Whether a client id is the address of a document. Ids of registered clients are UUIDs."""
    return client_id.startswith("https://")


async def read_client_document(service: Service, url: str, address: str) -> ClientRecord:
    """Return the client that a document describes. ``address``: the caller's IP address, whose limit is counted.

    Raises:
        NotFound: the address is not allowed, or its document cannot be fetched or used.
        RateLimited: too many documents were fetched for this caller.
    """
    _check_url(url)
    documents, clock = service.client_documents, service.store.clock
    async with documents.get_lock(url):
        client = documents.find(url, clock.wall())
        if client is not None:
            return client
        service.rate_limiter.count_registration(address)
        response = await _fetch_document(service, url)
        name, redirects = _read_document(url, response)
        client = ClientRecord(url, name, redirects, clock.wall())
        documents.keep(client, clock.wall() + _read_lifetime(response.headers))
        return client


def _check_url(url: str) -> None:
    """Refuse addresses that may not be a client id (section 3), and those that may not be fetched."""
    try:
        parse_public_url(url)
    except InvalidInput as problem:
        raise _refuse(problem.issues[0].message) from None
    parts = urlsplit(url)
    segments = parts.path.lower().replace("%2e", ".").split("/")
    if len(url) > MAX_CLIENT_ID_LENGTH:
        raise _refuse(f"Its address must have at most {MAX_CLIENT_ID_LENGTH} characters.")
    if parts.path in ("", "/") or "." in segments or ".." in segments or "?" in url:
        raise _refuse("Its address must have a path without . and .. segments, and no query.")


async def _fetch_document(service: Service, url: str) -> FetchResponse:
    try:
        return await fetch_url(
            url,
            headers={"Accept": "application/json"},
            timeout=TIMEOUT_SECONDS,
            limit=MAX_DOCUMENT_BYTES,
            resolving=service.resolve_host,
            egress=service.transport.egress,
        )
    except FetchError as problem:
        raise _refuse(problem.message) from None


def _read_document(url: str, response: FetchResponse) -> tuple[str, list[str]]:
    """Return the name and the redirect addresses in a document."""
    if response.status != 200:
        raise _refuse(f"Its address answered {response.status}; only 200 is accepted, and no redirect is followed.")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not _JSON_TYPE.fullmatch(media_type):
        raise _refuse("Its content type must be application/json.")
    document = _parse_document(response.content)
    if document.get("client_id") != url:
        raise _refuse("Its client_id is not its address.")
    if any(member in document for member in _SECRET_MEMBERS):
        raise _refuse("It must not hold a client_secret.")
    try:
        return read_client_metadata(document)
    except OAuthError as problem:
        raise _refuse(problem.message) from None


def _parse_document(content: bytes) -> Mapping[str, Json]:
    try:
        document = loads(content) if count_values(content) <= MAX_VALUES else None
    except ValueError:
        document = None
    if not isinstance(document, Mapping):
        raise _refuse("It must be a JSON object; each member may appear once.")
    return document


def _read_lifetime(headers: Mapping[str, str]) -> int:
    """Return for how many milliseconds a document is cached: ``Cache-Control``, within our bounds."""
    max_age = _MAX_AGE.search(headers.get("cache-control", "").lower())
    milliseconds = 0 if max_age is None else int(max_age[1]) * 1000
    return min(max(milliseconds, MIN_KEPT_MILLISECONDS), MAX_KEPT_MILLISECONDS)


def _refuse(reason: str) -> NotFound:
    return NotFound(f"The document that describes this application cannot be used. {reason}")
