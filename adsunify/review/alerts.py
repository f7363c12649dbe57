"""Describes alerts in words, for the shell and the pages."""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.values.exact_json import Json

LEVEL_WORDS = {"account": "account", "campaign": "campaign", "adGroup": "ad group", "ad": "ad"}


def describe_alert(alert: Mapping[str, Json]) -> str:
    """Describe the condition of an alert, such as ``a campaign spends more than 200.00 USD on one day``."""
    entity = LEVEL_WORDS.get(alert["level"], str(alert["level"]))
    subject = f"{'an' if entity[0] == 'a' else 'a'} {entity}"
    if alert["kind"] == "spendAbove":
        days = "on one day" if alert["days"] == 1 else f"within {alert['days']} days"
        return f"{subject} spends more than {alert['amount']} {alert['currency']} {days}"
    if alert["kind"] == "noDeliveryFor":
        return f"{subject} has no impression {alert['hours']} hours after its activation"
    if alert["kind"] == "disapproved":
        return f"{subject} is disapproved"
    if alert["kind"] == "paceAbove":
        return f"{subject} has spent more than {alert['percent']} % of its budget's share for the elapsed time"
    return str(alert["kind"])
