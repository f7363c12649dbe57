"""Requests to other machines and their answers: the only package that opens connections to somebody else's server.

Import the modules themselves: :mod:`adsunify.http.retry_after` needs nothing of the others.
"""
