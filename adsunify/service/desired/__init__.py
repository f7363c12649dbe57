"""Desired state as a file: compares it with the networks, and prepares the changes that make the networks agree."""
