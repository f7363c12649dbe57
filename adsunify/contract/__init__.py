"""The one contract table: an endpoint is a row and a function.

Routes, the OpenAPI document, the agents' tools and the clients are made from :data:`ENDPOINTS`.
"""

from __future__ import annotations

from .endpoint import Access, Endpoint, operation_id
from .endpoints import BY_ID, ENDPOINTS
from .messages import Answer, Call

__all__ = ["BY_ID", "ENDPOINTS", "Access", "Answer", "Call", "Endpoint", "operation_id"]
