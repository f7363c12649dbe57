"""The use cases, one module per section of the contract: transport-neutral; each takes the service and an Actor."""
