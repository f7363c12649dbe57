"""Normalized reporting: daily figures of an account, and of its campaigns, ad groups and ads."""
