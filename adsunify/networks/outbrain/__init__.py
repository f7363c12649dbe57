"""Outbrain: budgets, campaigns and promoted links over the Amplify API."""
