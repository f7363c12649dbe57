"""What reviews of the execution path found, held by tests."""
