"""LinkedIn Marketing API."""
