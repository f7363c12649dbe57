"""Types as other programs see them: the Protocols of an adapter, and the public client. Run by ``nox -s types``."""
