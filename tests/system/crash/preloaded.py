"""What the server of processes does once, after its imports, so that no forked process does it again."""

import gc
import ssl
from functools import cache

import httpx

ssl.create_default_context = cache(ssl.create_default_context)
httpx.create_ssl_context(trust_env=False)  # as the product does: reading the authorities takes 50 ms
gc.freeze()
