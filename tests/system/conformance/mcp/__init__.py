"""The agents' door before the official suites and clients: what others wrote to try it."""
