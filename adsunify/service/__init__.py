"""The use cases. Each one takes the service and an Actor, and depends on no transport.

Most modules hold the use cases of one section of docs/spec.md, "Endpoints".
"""
