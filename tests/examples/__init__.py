"""Tests of the programs and packages in ``examples``."""
