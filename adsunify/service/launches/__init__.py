"""Launches and change sets: preparing many operations in the background, and executing them with one confirmation."""
