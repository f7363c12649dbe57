"""Simulated ad networks over real HTTP, on 127.0.0.1 only. How to write one: `adsunify.sandbox.framework`."""

from adsunify.sandbox.server import RunningSandbox, Sandbox, get_fresh_id_offset, run_sandbox, sandbox, sandbox_thread

__all__ = ["RunningSandbox", "Sandbox", "get_fresh_id_offset", "run_sandbox", "sandbox", "sandbox_thread"]
