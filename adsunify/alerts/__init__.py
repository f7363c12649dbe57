"""Alerts: conditions on synced figures that a workspace is notified of. Pure rules and their evaluation."""
