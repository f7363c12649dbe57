"""The use cases. Each takes the service and an Actor, and knows no transport.

Most modules hold the use cases of one section of docs/spec.md, "Endpoints".
"""
