"""Tests of ``adsunify/execution``."""
