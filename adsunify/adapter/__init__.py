"""The toolkit for authors of adapters: the records that a network declares, and the functions that read them."""

API_VERSION = 1
"""The version of the adapter API, which ``docs/adapters.md`` describes. It rises when an adapter has to change."""
