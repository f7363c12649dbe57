"""What is kept: SQLAlchemy Core over SQLite or PostgreSQL.

Functions are synchronous, over a connection, one module per subject; a :class:`Store` runs them::

    store = await open_store("sqlite:///ads.db")
    operation = await store.ask(operations.find(actor, operation_id, store.clock))
"""

from .clock import Clock, new_id
from .driver import Store
from .opening import open_store

__all__ = ["Clock", "Store", "new_id", "open_store"]
