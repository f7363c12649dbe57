"""Mixed work on three servers and two workers while they and their database are killed and started again."""
