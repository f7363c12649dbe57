"""Traces of the work of the product, and the ids that connect log lines.

:mod:`adsunify.telemetry.tracing` has the functions that the product calls, and needs no other package.
:mod:`adsunify.telemetry.otlp` sends spans to a collector, and needs the extra ``otel``.
"""
