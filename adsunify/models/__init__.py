"""What callers write: the brief and the edit as pydantic models, and the messages that refuse them."""
