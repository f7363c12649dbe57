"""What the docstrings of the generated methods say of namespaces, parameters and errors."""

from __future__ import annotations

from collections.abc import Mapping

NAMESPACES: Mapping[str, str] = {
    "auth": "The credential of this client.",
    "keys": "API keys of the workspace.",
    "agents": "Permissions that the user gave to agents over OAuth.",
    "connections": "Connections to networks.",
    "networks": "What the networks can do.",
    "workflows": "The unified formats of campaigns.",
    "accounts": "Ad accounts, their hierarchies and catalogs.",
    "campaigns": "Campaigns: the unified workflow, and the native resource.",
    "ad_groups": "Ad groups, as native resources.",
    "ads": "Ads, as native resources.",
    "operations": "Prepared changes with their receipts.",
    "bulk": "One change for several entities.",
    "webhooks": "Subscriptions to events, and their deliveries.",
    "insights": "Daily metrics.",
}

PARAMETERS: Mapping[str, str] = {
    "accounts.list.network": "only accounts on this network.",
    "list.parent": "only entities below this one; the entity, or its id.",
    "list.status": "only entities with this native status.",
    "operations.validate.payload": "members with the network's own names and units, of a create or an update.",
    "operations.validate.status": "``active`` or ``paused``, where ``action`` is ``status``.",
    "webhooks.create.account": "only events of this ad account, or of its id; all accounts by default.",
    "webhooks.create.events": "the events to deliver; the five of operations by default.",
    "account": "the ad account, or its id.",
    "action": "what the change does.",
    "active": "False pauses the deliveries.",
    "agent": "the grant of the agent, or its id.",
    "brief": "the campaign. Amounts are in major units of the account's currency.",
    "can_write": "whether the key may prepare and execute changes.",
    "confirmed": "must be True: the plan was reviewed.",
    "connection": "the connection, or its id.",
    "creative": "the new content of the ad.",
    "credentials": "what the network issued, such as ``api_key``; docs/connecting.md lists them.",
    "delivery": "the delivery, or its id.",
    "edit": "the edit, where ``action`` is ``edit``.",
    "end_date": "the last day, in the account's time zone.",
    "entities": "1 to 50 entities, or their ids as the network gives them.",
    "entity": "the entity, or its id as the network gives it.",
    "events": "the events to deliver.",
    "expires_at": "when the key expires; an instant with a time zone.",
    "field": "the name of the setting, such as ``budget``.",
    "fields": "settings by name, such as ``budget`` (in major units). The empty text clears a setting.",
    "idempotency_key": "1 to 200 characters. The same key and request return the same operations, also expired ones.",
    "key": "the API key, or its id.",
    "kind": "the level of the entities.",
    "limit": "how many rows the server returns at once, 1 to 100.",
    "mode": "``set``, or a change by ``value`` percent.",
    "name": "what people call the key.",
    "network": "the network's code.",
    "operation": "the operation, or its id.",
    "operations": "1 to 50 operations, or their ids.",
    "parent": "the entity above, or its id.",
    "payload": "members with the network's own names and units.",
    "resource": "the name of the catalog, such as ``pages``; some take text after a colon.",
    "scope": "the networks and accounts that the key reaches.",
    "search": "only rows with this text.",
    "source": "the succeeded create operation, or its id.",
    "start_date": "the first day, in the account's time zone.",
    "status": "``active`` or ``paused``.",
    "targeting": "the new targeting. A list replaces the present list.",
    "url": "the https address that gets the events.",
    "value": "an amount in major units of the account's currency, a number, or a percentage.",
    "webhook": "the subscription, or its id.",
}
"""Parameter -> what it is; the key can begin with the method, or with the namespace and the method."""

ERRORS: Mapping[str, str] = {
    "InvalidInput": "with all issues of the input.",
    "Forbidden": "the credential may not do this.",
    "NotFound": "the workspace does not contain it.",
    "Conflict": "the idempotency key is bound to another request.",
    "ProviderError": "the network refuses, or gives no usable answer.",
    "TokenRefused": "the network refuses the credentials.",
    "OperationError": "the operation stops, or its state forbids this; ``outcome`` says what was written.",
}
"""Error -> when a method raises it, in the order of the docstrings."""
