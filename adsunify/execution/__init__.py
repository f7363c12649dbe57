"""The execution of a plan without I/O: states, outcomes, and what is kept of answers."""
