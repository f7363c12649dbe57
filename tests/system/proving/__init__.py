"""Proofs of every network against its simulation, honest and lying."""
