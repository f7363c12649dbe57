"""The one contract table: an endpoint is a row and a function.

Routes, the OpenAPI document, the agents' tools and the clients are made from :data:`ENDPOINTS`.
"""

from __future__ import annotations

from .endpoint import Access, Endpoint, make_operation_id
from .endpoints import ENDPOINTS, ENDPOINTS_BY_ID
from .messages import ApiRequest, ApiResponse

__all__ = ["ENDPOINTS", "ENDPOINTS_BY_ID", "Access", "ApiRequest", "ApiResponse", "Endpoint", "make_operation_id"]
