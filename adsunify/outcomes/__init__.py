"""What happened to a write whose outcome is not known: verdicts from evidence. No I/O but flows."""
