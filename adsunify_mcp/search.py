"""Finds the operation for a request in plain words, over the contract table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from math import log
from typing import Any

from adsunify.adapter.network import split_words
from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.contract.prose import convert_descriptions
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.dispatch import describe_endpoint
from adsunify.values.exact_json import Json

MAX_RESULTS = 3
"""The number of operations in a result, with their schemas."""

SEARCH_WORDS: Mapping[str, str] = {
    "get_auth_verify": "who am i credential permissions can i write have write access workspace token check",
    "get_keys": "list api keys",
    "post_keys": "create make new api key token",
    "post_keys_scoped": "create make new api key token for one account network only scoped restricted limited",
    "delete_key": "revoke delete remove api key",
    "get_connections": "connected networks connections logins which are connected",
    "post_connections_authorize": "connect link authorize login oauth consent new network account",
    "post_connections_credentials": "connect credentials api key private key username password",
    "delete_connection": "disconnect remove connection revoke login network",
    "get_networks": "which what networks platforms supported available",
    "get_network": "what can network do capabilities limits levels settings catalogs metrics of one network details",
    "get_accounts": "list ad accounts which accounts do i have what accounts are connected",
    "get_account": "one ad account currency timezone details show",
    "get_account_tree": "hierarchy tree structure list everything in whole account campaigns with ad groups and ads "
    "nested",
    "get_account_insights": "insights report performance spend spent cost clicks impressions conversions metrics "
    "results statistics stats how much did yesterday last week month roas ctr numbers daily performing best worst",
    "get_insights": "overview totals of all accounts across networks together sum by currency compare every account",
    "get_account_catalog": "catalog catalogue look up find ids interests locations cities countries languages pages "
    "pixels pixel id audiences apps creatives search targeting options resume report job",
    "get_workflows": "formats goals required inputs what do i need to create which fields workflow brief support",
    "get_account_entities": "import export account file yaml git",
    "post_apply": "apply my file document yaml",
    "post_diff": "diff difference compare file drift drifted changed outside",
    "post_validate_campaign": "validate check brief preview dry run would this campaign work is it valid test",
    "post_create": "create launch new campaign ad brief set up build make start advertise promote unified",
    "post_activate": "activate turn on go live launch created campaign whole hierarchy start serving publish",
    "get_operations": "list recent operations history changes change prepared pending what happened latest agent did",
    "get_operation": "one operation look at receipt status of a change did it work plan show",
    "post_operation_execute": "execute run apply confirm approve write prepared operation carry out it now",
    "post_operations_execute": "execute several many operations batch run all prepared",
    "post_operation_inspect": "inspect unknown stalled in doubt was the write done although answer lost outcome "
    "verdict read back compare what the network shows",
    "post_operation_cancel": "cancel abort discard withdraw prepared operation",
    "post_operation_undo": "undo take back revert roll back restore former value executed change reverse",
    "post_operation_resume": "resume carry on finish rest of operation unknown stalled expired stopped half way",
    "post_operation_settle": "settle decide step in doubt person applied not applied outcome",
    "get_launches": "list launches campaigns across several networks accounts at once",
    "post_launches": "launch one brief on many accounts several networks at once multi network roll out everywhere",
    "get_launch": "one launch cells matrix progress state of each account preview what was left out",
    "post_launch_activate": "activate turn on go live whole launch all its cells",
    "post_launch_pause": "pause stop whole launch all its campaigns",
    "post_launch_undo": "undo take back whole launch delete what it created",
    "post_launch_prepare": "prepare launch again anew expired refused cells retry failed rest",
    "post_launch_execute": "execute run confirm launch digest write all cells",
    "post_launch_cancel": "cancel abort launch open change set",
    "get_change_set": "one change set status digest operations progress",
    "post_change_set_execute": "execute run confirm change set digest",
    "post_change_set_cancel": "cancel abort change set",
    "post_account_validate": "validate native change mutation check update delete before preparing",
    "post_bulk_status": "pause stop resume enable disable turn off back on unpause hold halt everything several many "
    "campaign campaigns ad groups ads status this it all spending bulk",
    "post_bulk_edit": "raise lower increase decrease cut budgets bids percent several many bulk change budget by",
    "get_account_campaigns": "list show all campaigns find campaign by name search native running active paused",
    "post_account_campaigns": "create native campaign payload raw network own fields",
    "get_account_campaign": "one native campaign details show read",
    "patch_account_campaign": "update native campaign payload raw patch fields",
    "delete_account_campaign": "delete remove archive campaign",
    "get_account_campaign_settings": "campaign settings editable what can i change locked current values budget",
    "post_account_campaign_edit": "edit change campaign rename name budget schedule end date extend until longer bid "
    "strategy targeting cap set update settings",
    "get_account_ad_groups": "list show all ad groups ad sets line items search native",
    "post_account_ad_groups": "create native ad group ad set payload raw",
    "get_account_ad_group": "one native ad group ad set details show read",
    "patch_account_ad_group": "update native ad group ad set payload raw patch",
    "delete_account_ad_group": "delete remove archive ad group ad set",
    "get_account_ad_group_settings": "ad group ad set settings editable what can i change locked current values",
    "post_account_ad_group_edit": "edit change ad group ad set rename bid age aged older younger gender women men "
    "people target locations interests targeting audience placements devices languages budget",
    "get_account_ads": "list show all ads native",
    "post_account_ads": "create native ad payload raw",
    "get_account_ad": "one native ad details show read",
    "patch_account_ad": "update native ad payload raw patch",
    "delete_account_ad": "delete remove archive ad",
    "get_account_ad_settings": "ad settings editable what can i change locked current values",
    "post_account_ad_edit": "edit change ad headline text body url creative image rename copy wording landing page",
    "get_connected_agents": "which agents are connected oauth grants applications allowed list access of agents",
    "delete_connected_agent": "revoke agent grant disconnect an agent take access away",
    "get_guardrails": "list guardrails rules limits of spending what am i allowed to spend",
    "post_guardrails": "create make new guardrail rule limit spending per day window approval",
    "get_guardrails_freezes": "which credentials are frozen freezes",
    "delete_guardrails_freeze": "lift unfreeze freeze of a credential",
    "get_guardrail": "one guardrail rule show",
    "patch_guardrail": "change update guardrail rule limit raise lower",
    "delete_guardrail": "delete remove guardrail rule",
    "get_alerts": "list alerts what am i told about spend too much no delivery disapproved rejected ads pace",
    "post_alerts": "create make new alert tell warn notify when spend above budget pace no impressions disapproved",
    "patch_alert": "change update pause resume alert",
    "delete_alert": "delete remove alert",
    "get_guardrail_usage": "guardrail usage how full is the window how much is left used",
    "get_ledger": "ledger audit log trail who changed what when history of keys roles guardrails approvals",
    "get_webhooks": "list webhooks subscriptions notifications",
    "delete_webhook": "delete remove webhook subscription notifications",
    "post_webhook_test": "test webhook send test notification",
    "get_webhook_deliveries": "webhook deliveries were notifications delivered failed",
    "get_webhook_delivery_attempts": "attempts of a webhook delivery why did it fail",
    "post_webhook_delivery_redeliver": "redeliver resend webhook notification",
}
"""Words that people use when they mean an operation."""

RARE_OPERATIONS = frozenset(
    {f"patch_account_{singular}" for singular in ("campaign", "ad_group", "ad")}
    | {f"post_account_{plural}" for plural in ("campaigns", "ad_groups", "ads")}
    | {"post_operations_execute", "post_account_validate"}
)
"""Operations with native payloads, or on many operations at once. Few requests mean them, so they rank lower."""
HIDDEN_OPERATIONS = frozenset({"post_webhooks", "patch_webhook"})
"""Operations that agents cannot find (docs/spec.md, "Webhooks").

Only a person decides where events are sent: an agent could send them to itself.
"""
STOP_WORDS = frozenset(
    split_words("a an the my our me i to of for on in at is are it its please can you we and or with do does")
)
SYNONYMS: Mapping[str, str] = {
    "adset": "group", "adsets": "group", "groups": "group", "group": "group", "sets": "group", "set": "set",
    "campaigns": "campaign", "ads": "ad", "advert": "ad", "adverts": "ad", "budgets": "budget", "bids": "bid",
    "accounts": "account", "networks": "network", "platform": "network", "platforms": "network",
    "operations": "operation", "webhooks": "webhook", "keys": "key", "notifications": "notification",
    "reports": "report", "metrics": "metric", "deliveries": "delivery", "connections": "connection",
    "targeting": "target",
    "spent": "spend", "spending": "spend", "costs": "cost", "paused": "pause", "pausing": "pause", "halt": "pause",
    "stopped": "stop", "increase": "raise", "reduce": "lower", "decrease": "lower", "cut": "lower", "double": "raise",
    "deleted": "delete", "erase": "delete", "remove": "delete", "created": "create", "editing": "edit",
    "change": "edit", "modify": "edit", "renaming": "rename", "listing": "list", "percentage": "percent",
    "%": "percent", "performing": "performance", "performed": "performance", "countries": "country",
    "cities": "city", "locations": "location", "interests": "interest", "settings": "setting",
}  # fmt: skip


def tokenize(text: str) -> list[str]:
    """Return the significant words of a text, each in one spelling."""
    words = re.findall(r"[a-z]+|%", text.lower().replace("ad set", "adset").replace("ad group", "adset"))
    return [SYNONYMS.get(word, word) for word in words if word not in STOP_WORDS]


@cache
def _build_index() -> Mapping[str, Counter[str]]:
    networks = [get_adapter(code).network for code in ADAPTER_PACKAGES]
    network_words = {
        "post_connections_authorize": [
            word
            for network in networks
            if network.login.kind != "credentials"
            for word in (network.code, *network.other_names)
        ],
        "post_connections_credentials": [network.code for network in networks if network.login.kind == "credentials"],
        "get_network": [network.code for network in networks],
    }
    index = {}
    for endpoint in _list_endpoints():
        name = endpoint.operation_id
        text = [endpoint.summary, endpoint.summary, SEARCH_WORDS[name], *network_words.get(name, ())]
        index[name] = Counter(tokenize(" ".join(text)))
    return index


@cache
def _word_weights() -> Mapping[str, float]:
    frequencies = Counter(word for words in _build_index().values() for word in words)
    return {word: log(1 + len(_build_index()) / count) for word, count in frequencies.items()}


def _list_endpoints() -> list[Endpoint]:
    return [endpoint for endpoint in ENDPOINTS if endpoint.operation_id not in HIDDEN_OPERATIONS]


def search_operations(query: str) -> list[str]:
    """Find operation ids for a query, the best first. A query that is an operation id finds only this id."""
    if query.strip() in _build_index():
        return [query.strip()]
    query_words = Counter(tokenize(query))
    scores = {
        name: sum(_word_weights().get(word, 0.0) * min(words[word], 2) ** 0.5 for word in query_words)
        / (len(words) + 8) ** 0.3
        * (0.7 if name in RARE_OPERATIONS else 1.0)
        for name, words in _build_index().items()
    }
    return [name for name, score in sorted(scores.items(), key=lambda pair: -pair[1]) if score > 0]


@cache
def operation_schemas() -> Mapping[str, Json]:
    """Return the description of each operation as ``search_tools`` shows it."""
    return {endpoint.operation_id: _describe_endpoint(endpoint) for endpoint in _list_endpoints()}


def _describe_endpoint(endpoint: Endpoint) -> dict[str, Json]:
    properties: dict[str, Any] = {}
    if endpoint.parameters:
        properties["path"] = {
            "type": "object",
            "properties": {name: {"type": "string"} for name in endpoint.parameters},
            "required": list(endpoint.parameters),
        }
    if endpoint.query is not None:
        properties["query"] = endpoint.query.model_json_schema()
    if endpoint.body is not None and endpoint.body.model_fields:
        properties["body"] = endpoint.body.model_json_schema()
    if endpoint.takes_idempotency_key:
        properties["idempotencyKey"] = {"type": "string", "minLength": 1, "maxLength": 200}
    described: dict[str, Json] = convert_descriptions(
        {
            "operationId": endpoint.operation_id,
            "summary": endpoint.summary,
            "description": describe_endpoint(endpoint),
            "access": endpoint.access_description,
            "arguments": {"type": "object", "properties": properties},
        }
    )
    return described
