"""Signed links of report files on a storage host, in the form of Amazon S3."""

from adsunify.sandbox.figures import draw_bytes
from adsunify.sandbox.network import AbortRequest, Request, Response


def build_signed_query(name: str, expires: int) -> str:
    """Return the query of a link to the file `name` that is valid until `expires` (Unix seconds)."""
    return "&".join(f"{parameter}={value}" for parameter, value in _sign_link(name, str(expires)).items())


def check_signed_link(request: Request, name: str | None) -> None:
    """Check a download: the file `name` exists (not None), the link is unaltered and valid, no credentials are sent.

    Raises AbortRequest with the error of the storage host, which is XML.
    """
    if "Authorization" in request.headers:
        raise _storage_error(400, "InvalidArgument", "Only one auth mechanism allowed")
    query = dict(request.query_pairs)
    expires = query.get("X-Amz-Expires", "")
    if name is None or query != _sign_link(name, expires):
        raise _storage_error(403, "SignatureDoesNotMatch", "The request signature does not match")
    if int(expires) <= request.now.timestamp():
        raise _storage_error(403, "AccessDenied", "Request has expired")


def _sign_link(name: str, expires: str) -> dict[str, str]:
    return {"X-Amz-Expires": expires, "X-Amz-Signature": draw_bytes(name, expires).hex()}


def _storage_error(status: int, code: str, message: str) -> AbortRequest:
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return AbortRequest(Response(status, body.encode(), media_type="application/xml"))
