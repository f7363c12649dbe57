"""The input of callers: the brief and the edit as pydantic models, and the messages of refused input."""
