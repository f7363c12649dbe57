"""Simulated ad networks over real HTTP, on 127.0.0.1 only. How to write one: `adsunify.sandbox.framework`."""

from adsunify.sandbox.server import Running, Sandbox, fresh_ids, run, sandbox, sandbox_thread

__all__ = ["Running", "Sandbox", "fresh_ids", "run", "sandbox", "sandbox_thread"]
