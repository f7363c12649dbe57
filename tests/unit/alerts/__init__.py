"""Tests of ``adsunify/alerts``."""
