"""Whole conversations with each network, from the code exchange to the insights, recorded and replayed.

A server stands in the place of the network's hosts, and the real transport sends to it. The cassettes here were
recorded with the simulated networks (``ADSUNIFY_RECORD=1``) and replay without them. With credentials, the same tests
record the real network into another folder: ``ADSUNIFY_RECORD=1 ADSUNIFY_CASSETTES=folder
ADSUNIFY_META_CLIENT_ID=... ADSUNIFY_META_CODE=...``; secrets are filtered.
"""
