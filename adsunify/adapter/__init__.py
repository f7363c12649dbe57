"""The toolkit of an author of an adapter: what a network declares, and the mechanism that reads its tables."""
