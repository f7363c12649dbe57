"""The toolkit of an author of an adapter: what a network declares, and the mechanism that reads its tables."""

API_VERSION = 1
"""The version of the adapter API, which ``docs/adapters.md`` describes. It rises when an adapter has to change."""
