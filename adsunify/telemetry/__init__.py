"""Traces of what the product does, and the ids that tie log lines together.

:mod:`adsunify.telemetry.tracing` has what the product calls, and needs no other package.
:mod:`adsunify.telemetry.otlp` sends spans to a collector, and needs the extra ``otel``.
"""
