"""The ledger: its sealer, its verification, and the lists of its rows."""
