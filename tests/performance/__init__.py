"""Ratios against peers and physical limits, measured in the same run: ``python -m tests.performance``.

One module per group of goals. Nothing here fails because something is slow: a miss is printed as a miss.
"""
