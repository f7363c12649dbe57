"""Tests of the runner of JSON cases, and of the tables of every network."""
