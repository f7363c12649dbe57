"""Bodies: those of requests are encoded, those of responses are decoded within bounds."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import AsyncIterable, Mapping
from contextlib import aclosing
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from adsunify.http.messages import BodyEncoding
from adsunify.values.exact_json import Json, dumps, dumps_bytes

_CHUNK_BYTES = 1024 * 1024
_FIELD_NAME_PATTERN = re.compile(r"[\w.\[\]-]+", re.A)

# -- requests -----------------------------------------------------------------------------------------------------


def encode_body(encoding: BodyEncoding, body: Json) -> tuple[bytes | None, str | None]:
    """The bytes of a body and their content type. Raises TypeError or ValueError where the body does not fit."""
    if encoding == "none":
        return None, None
    if encoding == "json":
        return dumps_bytes(body), "application/json"
    fields = {name: _format_form_value(value, encoding == "form_json") for name, value in body.items()}
    if encoding == "multipart":
        return _encode_multipart(fields)
    return urlencode(fields, quote_via=quote, safe="").encode("ascii"), "application/x-www-form-urlencoded"


def _format_form_value(value: Json, as_json: bool) -> str:
    """The text of one form field."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return dumps(value)
    if as_json:
        return dumps(value)
    raise TypeError("a form holds text only")


def _encode_multipart(fields: Mapping[str, str]) -> tuple[bytes, str]:
    if not all(_FIELD_NAME_PATTERN.fullmatch(name) for name in fields):
        raise ValueError("a field name cannot be written")
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()
    ]
    boundary = hashlib.sha256(b"".join(parts)).hexdigest()[:40]  # of the content, so that no content can hold it
    content = b"".join(f"--{boundary}\r\n".encode() + part for part in parts) + f"--{boundary}--\r\n".encode()
    return content, f"multipart/form-data; boundary={boundary}"


# -- responses ----------------------------------------------------------------------------------------------------


class BodyDecoder:
    """The body of a response, inflated, at most ``limit`` bytes of it.

    Raises zlib.error where the body is not what its Content-Encoding says, or ends too early.
    """

    def __init__(self, coding: str, limit: int) -> None:
        coding = coding.strip().lower()
        if coding not in ("gzip", "x-gzip", "deflate", "identity", ""):
            raise zlib.error("an encoding that was not asked for")
        self._decompressor = None if coding in ("identity", "") else zlib.decompressobj(wbits=47)
        self._is_complete = True
        self._limit = limit
        self.content = bytearray()

    def feed(self, chunk: bytes) -> bool:
        """Take what arrived; False: there is more than the limit, and the rest is not wanted."""
        if self._decompressor is None:
            self.content += chunk
        else:
            self._inflate(chunk)
        if len(self.content) <= self._limit:
            return True
        del self.content[self._limit :]
        return False

    def _inflate(self, chunk: bytes) -> None:
        """gzip (one member or several) and zlib, never far beyond the limit whatever the input claims."""
        while chunk and len(self.content) <= self._limit:
            if self._decompressor is None or self._decompressor.eof:
                self._decompressor = zlib.decompressobj(wbits=47)
            self.content += self._decompressor.decompress(chunk, min(_CHUNK_BYTES, self._limit + 1 - len(self.content)))
            chunk = self._decompressor.unused_data if self._decompressor.eof else self._decompressor.unconsumed_tail
        self._is_complete = self._decompressor is None or self._decompressor.eof

    def finish(self) -> None:
        """Nothing more comes."""
        if not self._is_complete:
            raise zlib.error("the body ends too early")


async def read_limited(response: httpx.Response, limit: int) -> tuple[bytearray, bool]:
    """The body of a response, inflated, at most ``limit`` bytes of it; and whether that is all of it.

    Raises zlib.error as :class:`BodyDecoder` does.
    """
    stream = response.stream
    assert isinstance(stream, AsyncIterable)
    body = BodyDecoder(response.headers.get("content-encoding", ""), limit)
    chunks: Any = stream.__aiter__()
    async with aclosing(chunks):
        async for chunk in chunks:
            if not body.feed(chunk):
                return body.content, False
    body.finish()
    return body.content, True
