"""Insights at scale: speed and memory, sums, the past, null, and the columns of a public data model."""
