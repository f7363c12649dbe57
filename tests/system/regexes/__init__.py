"""Every regular expression of the product, on hostile texts: its cost must grow with the length, not with its square.

``test_growth.py`` counts the steps of a backtracking matcher.
``python -m tests.system.regexes`` measures the real engine.
"""
