"""The contract suite: JSON cases of every network, held against its adapter, by one runner.

``python -m tests.cases DIR`` runs any folder of cases: ``DIR/<network>/{exemplary,supplemental}/*.json``, or without
the inner folders, or ``DIR`` a network's folder itself. It prints one line per failure and last ``N passed, N failed``;
the exit status is 1 where anything failed, or where there was nothing to run. A file that is no case is a failure.

A case is ``{"case", "source", "kind", "account", "input", "exchange", "expect" | "refuse"}``:

``case``      a name, unique in its network; ``source``: where the native facts come from
``account``   ``{"nativeId", "currency", "timezone", "extras": {...}}``, and ``network`` where no folder names it
``exchange``  the requests that the adapter has to make, in this order, and what the network says:
              ``[{"request": {"method", "url", "body", "headers"}, "response": {"status", "headers", "body"}}]``.
              Of a request only what is named is compared. A response body that is a string is the text as it came
              (HTML, JSON cut off in the middle); left out or null, it is empty. A file is given as what is in it
``expect``    compared on the named members of objects, on whole lists, on exact amounts ("12.50" is "12.5")
``refuse``    ``{"field", "reason"}``: the input is refused at this member (``campaign.`` in front is ignored)

``kind``, its ``input``, and what ``expect`` holds:

================  ==========================================  ================================================
create            brief, now?                                 steps as ``plan --json``, warnings?, risk?
activate          outputs of the source by step key           steps
status            kind, entityId, status                      steps
update            kind, entityId, payload, parentId?          steps
delete            kind, entityId                              steps
edit              kind, entityId, edit, now?                  steps
native_create     kind, payload, parentId?                    steps
outcome           step, and one exchange                      outcome, outputs?, error?, retryAfterMs?, items?
accounts, tree    (nothing)                                   the ``data`` of the REST answer
entities          kind, limit?, cursor?, parentId?, status?,  the list, or ``{"data", "page": {"nextCursor"}}``
                  search?                                     with the network's own cursor
entity, settings  kind, entityId, now?                        the ``data`` of the REST answer
catalog           resource, search?, cursor?, limit?          the list, or with ``page`` as above
insights          startDate, endDate, job?, now?              rows, totals?, coverage?, pending?
connect           code (or answer), now, redirectUri?,        accessToken, refreshToken?, expiresAt?, accounts?
                  verifier?, app?
refresh           credentials, now, app?                      the same
sign              request, credentials, now?, nonce?, app?    headers (and url, where signing changes the query)
================  ==========================================  ================================================

``activate``: ``input`` is ``{"campaign": {"id": "1"}, ...}``, or ``{"outputs": {...}, "case": NAME}`` with the create
case that is the source, or ``{"outputs": {...}, "brief": {...}}``. With outputs alone, the source is the network's
first exemplary create case whose plan has those step keys.

``outcome``: ``step`` is a step as ``plan --json`` prints it, or ``{"network", "case", "key"}`` with a case of this
folder or of ``tests/networks`` whose plan has the step.

``edit``: ``{"fields": {"budget": "12.5"}, "targeting": {...}, "creative": {...}}``; a percentage is
``{"mode": "increase", "value": "10"}`` in place of the value, or the whole edit is a bulk edit's
``{"field", "mode", "value"}``.

``now`` is ISO 8601 text, or seconds or milliseconds since 1970; where it is left out, nothing is held against the
present (for insights it is noon of the day after ``endDate``, for connecting 2026-11-01). An app is
``{"clientId", "clientSecret"}``; what a connecting case leaves out is taken from its first request.

The suite itself (``tests/networks/test_cases.py``) reads strictly: the exchange is used whole and in its order, reasons
of refusals count, and lists stand in the order that is expected. The command line reads loosely what cases of other
people cannot know: step keys, the order of reads, of tree nodes, bindings and settings, the exact word for a reason
(which is then a note), and in a form or a header the way of writing the same thing. ``tests/cases/examples`` has a
case of the common kinds.

What is checked around every case, unasked, stands in :mod:`tests.cases.around`, :mod:`tests.cases.hostile` and
:mod:`tests.cases.twice`.
"""
