"""The agents' door: the Model Context Protocol, over HTTP and on standard input.

Seven tools are made from the contract's table; each calls a :class:`~adsunify.client.backends.Backend`, so they work
over a store as over a server.
"""
