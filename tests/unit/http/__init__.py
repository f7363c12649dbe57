"""Tests of ``adsunify/http``."""
