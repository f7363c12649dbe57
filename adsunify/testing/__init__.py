"""The test kit of adsunify."""
