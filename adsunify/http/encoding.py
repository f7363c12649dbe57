"""Encodes request bodies, and decodes response bodies up to a size limit."""

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
    """Return the bytes of a body and their content type.

    Raises:
        TypeError: the body cannot be written in this encoding.
        ValueError: the body cannot be written in this encoding.
    """
    if encoding == "none":
        return None, None
    if encoding == "json":
        return dumps_bytes(body), "application/json"
    fields = {name: _format_form_value(value, encoding == "form_json") for name, value in body.items()}
    if encoding == "multipart":
        return _encode_multipart(fields)
    return urlencode(fields, quote_via=quote, safe="").encode("ascii"), "application/x-www-form-urlencoded"


def _format_form_value(value: Json, as_json: bool) -> str:
    """Return the text of one form field."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return dumps(value)
    if as_json:
        return dumps(value)
    raise TypeError("a form holds text only")


def _encode_multipart(fields: Mapping[str, str]) -> tuple[bytes, str]:
    if not all(_FIELD_NAME_PATTERN.fullmatch(name) for name in fields):
        raise ValueError("a field name has characters that are not allowed")
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()
    ]
    boundary = hashlib.sha256(b"".join(parts)).hexdigest()[
        :40
    ]  # a hash of the content, which the content cannot contain
    content = b"".join(f"--{boundary}\r\n".encode() + part for part in parts) + f"--{boundary}--\r\n".encode()
    return content, f"multipart/form-data; boundary={boundary}"


# -- responses ----------------------------------------------------------------------------------------------------


class BodyDecoder:
    """Decompresses the body of a response, up to ``limit`` bytes.

    Raises:
        zlib.error: the body does not match its Content-Encoding, or ends too early.
    """

    def __init__(self, coding: str, limit: int) -> None:
        coding = coding.strip().lower()
        if coding not in ("gzip", "x-gzip", "deflate", "identity", ""):
            raise zlib.error("the request did not allow this encoding")
        self._decompressor = None if coding in ("identity", "") else zlib.decompressobj(wbits=47)
        self._is_complete = True
        self._limit = limit
        self.content = bytearray()

    def feed(self, chunk: bytes) -> bool:
        """Add bytes that arrived. Returns False if the body exceeds the limit; the caller then stops reading."""
        if self._decompressor is None:
            self.content += chunk
        else:
            self._inflate(chunk)
        if len(self.content) <= self._limit:
            return True
        del self.content[self._limit :]
        return False

    def _inflate(self, chunk: bytes) -> None:
        """Decompress gzip (with one member or several) or zlib, and stop right after the limit."""
        while chunk and len(self.content) <= self._limit:
            if self._decompressor is None or self._decompressor.eof:
                self._decompressor = zlib.decompressobj(wbits=47)
            self.content += self._decompressor.decompress(chunk, min(_CHUNK_BYTES, self._limit + 1 - len(self.content)))
            chunk = self._decompressor.unused_data if self._decompressor.eof else self._decompressor.unconsumed_tail
        self._is_complete = self._decompressor is None or self._decompressor.eof

    def finish(self) -> None:
        """Check that the body is complete after its last bytes."""
        if not self._is_complete:
            raise zlib.error("the body ends too early")


async def read_limited(response: httpx.Response, limit: int) -> tuple[bytearray, bool]:
    """Read the decompressed body of a response, up to ``limit`` bytes.

    Returns:
        The bytes, and whether they are the whole body.

    Raises:
        zlib.error: as :class:`BodyDecoder`.
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
