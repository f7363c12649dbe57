"""Tests of ``adsunify/plans``."""
