"""The use cases, transport-neutral: each takes the service and an Actor.

Most modules hold the use cases of one section of docs/spec.md, "Endpoints".
"""
