"""Snapchat: campaigns, ad squads and ads over the Snap Marketing API."""
