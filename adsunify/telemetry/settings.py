"""The settings of telemetry, and the tracer that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from attrs import field, frozen

from adsunify.errors import explain_missing_packages, invalid_input
from adsunify.http.egress import DEFAULT_PORTS, Egress

from .tracing import NO_TRACER, Tracer

ENDPOINT_VARIABLE = "ADSUNIFY_OTEL_ENDPOINT"
HEADERS_VARIABLE = "ADSUNIFY_OTEL_HEADERS"


@frozen
class TelemetrySettings:
    """A collector: its address without a trailing slash, and headers for it, which may hold a token."""

    endpoint: str
    headers: Mapping[str, str] = field(factory=dict, repr=False)


def read_telemetry_settings(environment: Mapping[str, str]) -> TelemetrySettings | None:
    """Read the settings; None without a collector.

    Raises:
        InvalidInput: a setting is malformed. The issue does not repeat the value, because it may contain a token.
        MissingExtra: the extra ``otel`` is not installed.
    """
    endpoint = environment.get(ENDPOINT_VARIABLE)
    if not endpoint:
        return None
    with explain_missing_packages():
        import adsunify.telemetry.otlp  # noqa: F401 - only tries whether the extra is installed
    try:
        parts = urlsplit(endpoint)
        is_usable = parts.scheme in DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not endpoint.isprintable() or {*"@?# "} & {*endpoint}:
        raise invalid_input(
            ENDPOINT_VARIABLE,
            "malformed",
            "must be the http or https address of an OTLP/HTTP collector, such as http://127.0.0.1:4318, without a "
            f"user name and without a query. A token belongs into {HEADERS_VARIABLE}.",
        )
    return TelemetrySettings(endpoint.rstrip("/"), _read_headers(environment.get(HEADERS_VARIABLE) or ""))


def _read_headers(text: str) -> dict[str, str]:
    headers = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, has_value, value = (piece.strip() for piece in part.partition("="))
        if not has_value or not value or not text.isascii() or not text.isprintable() or not _is_token(name):
            raise invalid_input(HEADERS_VARIABLE, "malformed", "must be headers such as api-key=...,other=....")
        headers[name] = value
    return headers


def _is_token(name: str) -> bool:
    return bool(name) and all(character.isalnum() or character in "-_" for character in name)


def make_tracer(settings: TelemetrySettings | None, egress: Egress) -> Tracer:
    """Make the tracer. The collector is reached without the proxy of ``egress``."""
    if settings is None:
        return NO_TRACER
    from .otlp import Collector, OtlpTracer

    return OtlpTracer(Collector(settings.endpoint, settings.headers, egress))
