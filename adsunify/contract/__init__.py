"""The contract table as data: each endpoint is a row of :data:`ENDPOINTS`.

The routes, the OpenAPI document, the MCP tools and the clients are generated from it.
"""

from __future__ import annotations

from .endpoint import Access, Endpoint, make_operation_id
from .endpoints import ENDPOINTS, ENDPOINTS_BY_ID
from .messages import ApiRequest, ApiResponse

__all__ = ["ENDPOINTS", "ENDPOINTS_BY_ID", "Access", "ApiRequest", "ApiResponse", "Endpoint", "make_operation_id"]
