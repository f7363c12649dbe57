"""What is wanted, as a file: compares it with the networks, and prepares the changes that make them agree."""
