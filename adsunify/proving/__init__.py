"""The proof of an adapter against its network: everything is read, and a small paused campaign is created and deleted.

:func:`~adsunify.proving.run.prove_network` runs the checks with a connected account. Each check says which facts of the
adapter's tables the network confirmed or contradicted. The exchanges become cases of
:mod:`adsunify.testing.contract`, without secrets. Nothing is activated: a guardrail and the transport both refuse it.
"""
