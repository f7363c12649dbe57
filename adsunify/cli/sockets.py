"""Sockets to listen on."""

from __future__ import annotations

import os
import socket

from adsunify.errors import invalid_input


def bind_socket(host: str, port: int, option: str = "--port") -> socket.socket:
    """A listening socket; InvalidInput where there can be none. ``option``: what the port was given with."""
    try:
        return socket.create_server((host, port))
    except OSError as reason:
        cause = str(reason) if reason.errno is None else os.strerror(reason.errno)
        raise invalid_input(option, "unavailable", f"{port} of {host} cannot be listened on: {cause}.") from None
