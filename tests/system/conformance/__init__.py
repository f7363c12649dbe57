"""The REST API held against its contract: its tables as data here, others' suites by ``nox -s conformance``."""
