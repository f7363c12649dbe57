"""Listening sockets."""

from __future__ import annotations

import os
import socket

from adsunify.errors import invalid_input


def bind_socket(host: str, port: int, option: str = "--port") -> socket.socket:
    """Open a listening socket. Raises InvalidInput that names ``option``, the source of the port."""
    try:
        return socket.create_server((host, port))
    except OSError as reason:
        cause = str(reason) if reason.errno is None else os.strerror(reason.errno)
        raise invalid_input(option, "unavailable", f"cannot listen on port {port} of {host}: {cause}.") from None
