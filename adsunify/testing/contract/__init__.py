"""Contract tests of adapters: JSON cases of a network, compared with its adapter.

``python -m adsunify.testing.contract FOLDER`` runs every case below a folder:
``FOLDER/<network>/{exemplary,supplemental}/*.json``, or without the inner folders, or ``FOLDER`` is the folder of one
network. ``--help`` describes the options and the output. The adapter of another package runs if ``ADSUNIFY_ADAPTERS``
names it.

A case is a JSON object:

``case``
    A name, unique in its network. Without it, the name is that of the file.
``source``
    The page that the native facts come from, with the date.
``kind``, ``input``
    What is done; see the table.
``account``
    ``{"nativeId", "currency", "timezone", "extras": {...}}``, and ``network`` if no folder has the network's name.
``exchange``
    The requests that the adapter must make, in this order, with the responses of the network:
    ``[{"request": {"method", "url", "body", "headers"}, "response": {"status", "headers", "body"}}]``. Only the named
    members of a request are compared. A response body that is a string is the text of the response (HTML, or JSON that
    is cut off); null or no body is an empty response. The body of a file is what the file contains.
``expect``
    The expected result. Objects are compared by their named members, lists whole, amounts by value ("12.50" is "12.5").
``refuse``
    In place of ``expect``: ``{"field", "reason"}``. The input is refused at this member (``campaign.`` in front is
    ignored), and ``reason`` is the code of the issue, or words of its code and message. If the network refuses, there
    is no ``field``, and ``reason`` is the code of the error, such as ``provider_permission``. Cases in a folder
    ``exemplary`` have no ``refuse``.

The kinds:

================  ==========================================  ================================================
kind              ``input``                                   ``expect``
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
report            level, startDate, endDate, entityIds?,      rows of all pages, coverage?, pending?
                  now?
connect           code (or answer), now, redirectUri?,        accessToken, refreshToken?, expiresAt?, accounts?
                  verifier?, app?
refresh           credentials, now, app?                      the same
sign              request, credentials, now?, nonce?, app?    headers (and url, if signing changes the query)
================  ==========================================  ================================================

``activate``: ``input`` is ``{"campaign": {"id": "1"}, ...}``, or ``{"outputs": {...}, "case": NAME}`` with the create
case that is the source, or ``{"outputs": {...}, "brief": {...}}``. With outputs alone, the source is the first create
case of the network below the folder whose plan has those step keys.

``outcome``: ``step`` is a step as ``plan --json`` prints it, or ``{"network", "case", "key"}`` with a case below the
folder whose plan has the step.

``edit``: ``{"fields": {"budget": "12.5"}, "targeting": {...}, "creative": {...}}``. A percentage is
``{"mode": "increase", "value": "10"}`` in place of the value. The whole edit can also be that of a bulk edit:
``{"field", "mode", "value"}``.

``now`` is ISO 8601 text, or seconds or milliseconds since 1970. Without it, plans do not compare anything with the
present; for insights it is noon of the day after ``endDate``, for connecting 2026-11-01. An app is
``{"clientId", "clientSecret"}``; members that a connecting case does not have are taken from its first request.

The strict reading (``--strict``) uses the exchange whole and in its order, compares the reasons of refusals, and takes
lists in the expected order only. The loose reading accepts differences in what the contract does not tell an author:
step keys, the order of reads, of tree nodes, bindings and settings, and in a form or a header another way of writing
the same value. A wrong reason and an unused response are then notes, which do not fail the case.

Every case must also pass the checks of all plans (:mod:`adsunify.testing.contract.plan_checks`), give the same bytes in
every process (:mod:`adsunify.testing.contract.determinism`), and withstand hostile responses
(:mod:`adsunify.testing.contract.hostile_responses`).
"""
