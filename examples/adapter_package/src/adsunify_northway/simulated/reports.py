"""The report by day: a row for every day on which an ad delivered. Figures are drawn from the ad's id and the day.

States have no history: an ad that is LIVE now counts as delivering since its creation.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from adsunify.sandbox.checks import choice
from adsunify.sandbox.figures import draw_bytes, get_currency_unit, sum_figures
from adsunify.sandbox.instants import date_check, iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account
from adsunify_northway.simulated import answers, tables
from adsunify_northway.simulated.entities import get_ancestry

_QUERY = {"from": date_check(), "to": date_check(), "by": choice("day")}
_MINOR_UNITS = {"JPY": 1}  # minor units in a major unit; 100 for all other currencies here


def get_report(request: Request) -> Response:
    """GET /advertisers/{advertiser}/report."""
    account = answers.require_advertiser(request)
    query = request.parse_query(_QUERY)
    first, last = query["from"], query["to"]
    if last < first or (last - first).days >= tables.MAX_REPORT_DAYS:
        raise InvalidRequest("value", "/to", f"must be within {tables.MAX_REPORT_DAYS} days")
    today = request.get_local_date(account)
    if first < today - timedelta(days=tables.HISTORY_DAYS):
        raise InvalidRequest("value", "/from", f"is more than {tables.HISTORY_DAYS} days ago")
    totals: dict[date, dict[str, int]] = {}
    for ad, since, until in _list_spans(request, account):
        for day in iterate_days(max(first, since), min(last, until, today)):
            if request.world.delivers(day):
                totals[day] = sum_figures([_draw_figures(ad, day, account.currency)], totals.get(day))
    rows = [{"day": day.isoformat(), **total} for day, total in sorted(totals.items())]
    return answers.build_response(request, {"rows": rows})


def _list_spans(request: Request, account: Account) -> Iterator[tuple[str, date, date]]:
    """Every ad that delivers now, and its first and last day."""
    for ad in request.world.list_entities("ad", account.id):
        line = get_ancestry(request.world, ad)
        if any(entity.data["state"] != "LIVE" for entity in line):
            continue
        campaign: Mapping[str, Any] = line[-1].data
        start = answers.INSTANT.check_datetime(campaign["starts_at"], "").astimezone(account.zone).date()
        end = date.max
        if "ends_at" in campaign:
            end = answers.INSTANT.check_datetime(campaign["ends_at"], "").astimezone(account.zone).date()
        yield ad.id, start, end


def _draw_figures(ad: str, day: date, currency: str) -> dict[str, int]:
    dice = draw_bytes(ad, day.isoformat())
    impressions = 2000 + 9 * dice[0] + dice[1]
    clicks = impressions * (4 + dice[2] % 12) // 1000
    sales = clicks // 12 + dice[3] % 2
    unit = get_currency_unit(currency) * _MINOR_UNITS.get(currency, 100)
    return {
        "shown": impressions,
        "clicked": clicks,
        "spent_minor": clicks * unit * (40 + dice[4]) // 200 + dice[5] % 10,
        "sales": sales,
        "sales_value_minor": sales * unit * (20 + dice[6] % 40),
    }
