"""A seeded simulation of whole executions: the executor, a model of the store, a network, clocks, and bad luck."""
