"""The one contract table: an endpoint is a row and a function.

Routes, the OpenAPI document, the agents' tools and the clients are made from :data:`ENDPOINTS`.
"""

from __future__ import annotations

from .calling import Answer, Call, call
from .endpoint import Access, Endpoint, operation_id
from .endpoints import BY_ID, ENDPOINTS

__all__ = ["BY_ID", "ENDPOINTS", "Access", "Answer", "Call", "Endpoint", "call", "operation_id"]
