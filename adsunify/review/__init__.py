"""What a plan means and what a network can do, in words for people."""
