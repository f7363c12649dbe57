"""Meta (Facebook, Instagram): Marketing API v26.0."""
