"""Tests of ``adsunify/values``."""
