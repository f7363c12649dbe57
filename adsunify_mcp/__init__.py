"""The Model Context Protocol (MCP) for agents, over HTTP and on standard input.

Seven tools are made from the contract's table. Each calls a :class:`~adsunify.client.backends.Backend`, so they work on
a local store and at a server.
"""
