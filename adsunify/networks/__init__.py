"""The adapters, one folder for each network; :mod:`adsunify.networks.registry` finds them. No adapter performs I/O.

:mod:`adsunify.adapter.protocols` says what an adapter has to be.
"""

ADAPTERS_VARIABLE = "ADSUNIFY_ADAPTERS"
"""The environment variable that names the adapters of other distributions to load."""
