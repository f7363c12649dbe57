"""The database: SQLAlchemy Core over SQLite or PostgreSQL.

The functions that read and write are synchronous and take a connection. Each subject has its own module. A
:class:`Store` runs the functions::

    store = await open_store("sqlite:///ads.db")
    operation = await store.run_query(operations.find_operation(actor, operation_id, store.clock))
"""

from .clock import Clock, new_id
from .driver import DEFAULT_TIMEOUTS, DatabaseTimeouts, Store
from .opening import open_store, read_upgrade_plan
from .upgrading import UpgradePlan

__all__ = [
    "DEFAULT_TIMEOUTS",
    "Clock",
    "DatabaseTimeouts",
    "Store",
    "UpgradePlan",
    "new_id",
    "open_store",
    "read_upgrade_plan",
]
