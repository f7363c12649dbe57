"""Tests of ``adsunify/adapter``."""
