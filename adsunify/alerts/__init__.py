"""Alerts: what a workspace wants to be told about its synced figures. Pure rules and their evaluation."""
