"""Payloads and answers held against the networks' official SDKs, protocol buffers and schemas (``nox -s oracles``).

``ADSUNIFY_SPECS`` names the folder of official machine-readable data (``<network>/*.json``); without it the tests that
need it are skipped, and the run says so.
"""
