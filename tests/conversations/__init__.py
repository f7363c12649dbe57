"""Whole conversations with each network, from the code exchange to the insights, recorded and replayed.

The cassettes here were recorded over real HTTP with the simulated networks (``ADSUNIFY_RECORD=1``) and replay without
them. Whoever has credentials records the same tests against the real network into a folder of his own:
``ADSUNIFY_RECORD=1 ADSUNIFY_CASSETTES=folder ADSUNIFY_META_CLIENT_ID=... ADSUNIFY_META_CODE=...``; secrets are
filtered.
"""
