"""One advertising API over 12 ad networks."""

__version__ = "0.1.0"
