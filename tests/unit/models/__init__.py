"""Tests of ``adsunify/models``."""
