"""The tests of ``adsunify``: each stands where its subject stands."""
