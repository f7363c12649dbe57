"""The server: the whole REST API over an open service, made from the contract table."""
