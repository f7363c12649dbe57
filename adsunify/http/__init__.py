"""HTTP requests and responses. Only this package opens connections to other servers.

Import its modules directly: :mod:`adsunify.http.retry_after` does not need the others.
"""
