"""Rows of each network's report, and the loop somebody would write by hand for them: exact, and no float gets in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any
from zoneinfo import ZoneInfo

FIRST = date(2026, 1, 1)
DAYS = 365
APPLE_DAYS = 30  # a row of Apple's is a campaign, with its days
ZONE = "Europe/Berlin"
MICRO, CENT = Decimal("0.000001"), Decimal("0.01")

Row = dict[str, Any]
Day = tuple[date, Mapping[str, Any]]


# -- rows ---------------------------------------------------------------------------------------------------------


def rows(network: str, count: int) -> Iterator[Row]:
    """So many rows of a report of a year, as JSON reads them."""
    of = ROWS[network]
    for number in range(count // APPLE_DAYS if network == "apple" else count):
        yield of(number, (FIRST + timedelta(number % DAYS)).isoformat())


def _amazon(n: int, day: str) -> Row:
    figures = {"impressions": 1000 + n, "clicks": n % 90, "cost": Decimal(n) / 100, "purchases7d": n % 9}
    return {"date": day, "campaignId": 91_000 + n, **figures, "sales7d": Decimal(n) / 8}


def _apple(n: int, day: str) -> Row:
    figures = {"impressions": 1000 + n, "taps": n % 90, "totalInstalls": n % 9}
    days = [(date.fromisoformat(day) + timedelta(more)).isoformat() for more in range(APPLE_DAYS)]
    spend = {"amount": f"{n}.25", "currency": "EUR"}
    return {"granularMetrics": [{"date": one, **figures, "localSpend": spend} for one in days]}


def _chatgpt(n: int, day: str) -> Row:
    return {"readable_time": day, "impressions": 1000 + n, "clicks": n % 90, "spend": Decimal(n) / 100}


def _google(n: int, day: str) -> Row:
    figures = {"impressions": str(1000 + n), "clicks": str(n % 90), "costMicros": str(10_000 * n)}
    more = {"conversions": Decimal(n % 9) / 2, "conversionsValue": Decimal(n) / 8, "videoTrueviewViews": str(n)}
    return {"segments": {"date": day}, "metrics": {**figures, **more}}


def _linkedin(n: int, day: str) -> Row:
    whole = date.fromisoformat(day)
    start = {"year": whole.year, "month": whole.month, "day": whole.day}
    counts = {"impressions": 1000 + n, "clicks": n % 90, "externalWebsiteConversions": n % 9, "videoViews": n}
    money = {"costInLocalCurrency": f"{n}.130000000000000782", "conversionValueInLocalCurrency": f"{n}.5"}
    return {"dateRange": {"start": start, "end": start}, **counts, **money, "approximateMemberReach": 900 + n}


def _meta(n: int, day: str) -> Row:
    counts = {"link_click": n % 80, "video_view": n, "purchase": n % 9, "omni_purchase": n % 9}
    values = {"purchase": f"{n}.10", "omni_purchase": f"{n}.50"}
    figures = {"impressions": str(1000 + n), "clicks": str(n % 90), "spend": f"{n}.34", "reach": str(900 + n)}
    actions = [{"action_type": kind, "value": str(value)} for kind, value in counts.items()]
    amounts = [{"action_type": kind, "value": value} for kind, value in values.items()]
    return {"date_start": day, "date_stop": day, **figures, "actions": actions, "action_values": amounts}


def _outbrain(n: int, day: str) -> Row:
    counts = {"impressions": Decimal(f"{1000 + n}.0"), "clicks": Decimal(f"{n % 90}.0"), "videoPlays": n}
    money = {"spend": Decimal(n) / 100, "totalConversions": Decimal(f"{n % 9}.0"), "totalSumValue": Decimal(n) / 8}
    return {"metadata": {"id": day, "fromDate": day, "toDate": day}, "metrics": {**counts, **money}}


def _pinterest(n: int, day: str) -> Row:
    counts = {"TOTAL_IMPRESSION": 1000 + n, "TOTAL_CLICKTHROUGH": n % 90, "TOTAL_VIDEO_MRC_VIEWS": n}
    money = {"SPEND_IN_MICRO_DOLLAR": 10_000 * n, "TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR": 125_000 * n}
    return {"DATE": day, **counts, **money, "TOTAL_CONVERSIONS": n % 9, "TOTAL_IMPRESSION_USER": 900 + n}


def _reddit(n: int, day: str) -> Row:
    counts = {"impressions": 1000 + n, "clicks": n % 90, "reach": 900 + n, "video_viewable_impressions": n}
    money = {"spend": 10_000 * n, "conversion_purchase_total_value": 125 * n}
    return {"date": day, **counts, **money, "key_conversion_total_count": n % 9}


def _snapchat(n: int, day: str) -> Row:
    stats = {"impressions": 1000 + n, "swipes": n % 90, "spend": 10_000 * n, "video_views": n}
    more = {"conversion_purchases": n % 9, "conversion_purchases_value": 125_000 * n}
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), ZoneInfo(ZONE))
    return {"type": "CAMPAIGN", "start_time": start.isoformat(timespec="milliseconds"), "stats": {**stats, **more}}


def _tiktok(n: int, day: str) -> Row:
    counts = {"impressions": str(1000 + n), "clicks": str(n % 90), "reach": str(900 + n)}
    more = {"spend": f"{n}.34", "conversion": "-" if n % 7 == 0 else str(n % 9), "video_play_actions": str(n)}
    return {"dimensions": {"stat_time_day": f"{day} 00:00:00"}, "metrics": {**counts, **more}}


def _x(n: int, day: str) -> Row:
    counts = {"impressions": 1000 + n, "clicks": n % 90, "video_total_views": n}
    more = {"billed_charge_local_micro": 10_000 * n, "conversion_purchases": {"metric": n % 9, "order_quantity": n}}
    return {"date": day, "campaign_id": "c7", **counts, **more, "conversion_sign_ups": {"metric": 1}}


ROWS: dict[str, Callable[[int, str], Row]] = {
    "amazon": _amazon,
    "apple": _apple,
    "chatgpt": _chatgpt,
    "google": _google,
    "linkedin": _linkedin,
    "meta": _meta,
    "outbrain": _outbrain,
    "pinterest": _pinterest,
    "reddit": _reddit,
    "snapchat": _snapchat,
    "tiktok": _tiktok,
    "x": _x,
}


# -- loops --------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?").fullmatch


def whole(value: Any) -> int | None:
    """A count. Raises ValueError for what is none."""
    kind = type(value)
    if value is None or kind is int:
        return value  # type: ignore[no-any-return] # None or an integer
    if kind is str and value.isdecimal() and value.isascii():
        return int(value)
    if kind is Decimal and value == int(value):
        return int(value)
    raise ValueError("no count")


def exact(value: Any) -> Decimal | None:
    """An amount. Raises ValueError for what is none."""
    if value is None:
        return None
    kind = type(value)
    if kind is int or kind is Decimal or (kind is str and _NUMBER(value)):
        return Decimal(value)
    raise ValueError("no number")


def scaled(value: Any, part: Decimal) -> Decimal | None:
    """An amount that is counted in parts of a major unit."""
    number = exact(value)
    return None if number is None else number * part


def clean(value: Any) -> Decimal | None:
    """An amount without the noise of a float."""
    number = exact(value)
    return None if number is None else number.quantize(MICRO, ROUND_HALF_EVEN)


def amazon(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        cost, sales = row.get("cost"), row.get("sales7d")
        yield (
            date.fromisoformat(row["date"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": exact(cost),
                "conversions": whole(row.get("purchases7d")),
                "conversionValue": exact(sales),
            },
        )


def apple(native: Iterable[Row]) -> Iterator[Day]:
    for campaign in native:
        for row in campaign["granularMetrics"]:
            spend = row.get("localSpend")
            yield (
                date.fromisoformat(row["date"]),
                {
                    "impressions": whole(row.get("impressions")),
                    "clicks": whole(row.get("taps")),
                    "spend": None if spend is None else exact(spend["amount"]),
                    "conversions": whole(row.get("totalInstalls")),
                },
            )


def chatgpt(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        impressions, clicks, spend = row.get("impressions"), row.get("clicks"), row.get("spend")
        yield (
            date.fromisoformat(row["readable_time"]),
            {
                "impressions": whole(row.get("campaign_impressions") if impressions is None else impressions),
                "clicks": whole(row.get("campaign_clicks") if clicks is None else clicks),
                "spend": exact(row.get("campaign_spend") if spend is None else spend),
            },
        )


def google(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        told = row["metrics"]
        yield (
            date.fromisoformat(row["segments"]["date"]),
            {
                "impressions": whole(told.get("impressions", 0)),
                "clicks": whole(told.get("clicks", 0)),
                "spend": scaled(told.get("costMicros", 0), MICRO),
                "conversions": exact(told.get("conversions", 0)),
                "conversionValue": exact(told.get("conversionsValue", 0)),
                "videoViews": whole(told.get("videoTrueviewViews", 0)),
            },
        )


def linkedin(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        first = row["dateRange"]["start"]
        cost, value = row.get("costInLocalCurrency"), row.get("conversionValueInLocalCurrency")
        yield (
            date(first["year"], first["month"], first["day"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": clean(cost),
                "conversions": whole(row.get("externalWebsiteConversions")),
                "conversionValue": clean(value),
                "videoViews": whole(row.get("videoViews")),
                "reach": whole(row.get("approximateMemberReach")),
            },
        )


def meta(native: Iterable[Row]) -> Iterator[Day]:
    kinds = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")
    for row in native:
        actions = {one["action_type"]: one["value"] for one in row.get("actions", ())}
        values = {one["action_type"]: one["value"] for one in row.get("action_values", ())}
        kind = next((kind for kind in kinds if kind in actions), None)
        views, value = actions.get("video_view"), values.get(kind)
        yield (
            date.fromisoformat(row["date_start"]),
            {
                "impressions": whole(row["impressions"]),
                "clicks": whole(row["clicks"]),
                "spend": exact(row["spend"]),
                "conversions": None if kind is None else exact(actions[kind]),
                "conversionValue": exact(value),
                "videoViews": whole(views),
                "reach": whole(row["reach"]),
            },
        )


def outbrain(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        told = row["metrics"]
        impressions, clicks, plays = told["impressions"], told["clicks"], told["videoPlays"]
        yield (
            date.fromisoformat(row["metadata"]["fromDate"]),
            {
                "impressions": whole(impressions) if impressions == int(impressions) else None,
                "clicks": whole(clicks) if clicks == int(clicks) else None,
                "spend": exact(told["spend"]),
                "conversions": exact(told["totalConversions"]),
                "conversionValue": exact(told["totalSumValue"]),
                "videoViews": whole(plays) if plays == int(plays) else None,
            },
        )


def pinterest(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        spend, value = row.get("SPEND_IN_MICRO_DOLLAR"), row.get("TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR")
        conversions = row.get("TOTAL_CONVERSIONS")
        yield (
            date.fromisoformat(row["DATE"]),
            {
                "impressions": whole(row.get("TOTAL_IMPRESSION")),
                "clicks": whole(row.get("TOTAL_CLICKTHROUGH")),
                "spend": scaled(spend, MICRO),
                "conversions": exact(conversions),
                "conversionValue": scaled(value, MICRO),
                "videoViews": whole(row.get("TOTAL_VIDEO_MRC_VIEWS")),
                "reach": whole(row.get("TOTAL_IMPRESSION_USER")),
            },
        )


def reddit(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        spend, value = row.get("spend"), row.get("conversion_purchase_total_value")
        conversions = row.get("key_conversion_total_count")
        yield (
            date.fromisoformat(row["date"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": scaled(spend, MICRO),
                "reach": whole(row.get("reach")),
                "videoViews": whole(row.get("video_viewable_impressions")),
                "conversions": exact(conversions),
                "conversionValue": scaled(value, CENT),
            },
        )


def snapchat(native: Iterable[Row]) -> Iterator[Day]:
    zone = ZoneInfo(ZONE)
    for row in native:
        told = row["stats"]
        spend, value = told.get("spend"), told.get("conversion_purchases_value")
        conversions = told.get("conversion_purchases")
        yield (
            datetime.fromisoformat(row["start_time"]).astimezone(zone).date(),
            {
                "impressions": whole(told.get("impressions")),
                "clicks": whole(told.get("swipes")),
                "spend": scaled(spend, MICRO),
                "conversions": exact(conversions),
                "conversionValue": scaled(value, MICRO),
                "videoViews": whole(told.get("video_views")),
            },
        )


def tiktok(native: Iterable[Row]) -> Iterator[Day]:
    for row in native:
        told = row["metrics"]
        conversions = told["conversion"]
        yield (
            date.fromisoformat(row["dimensions"]["stat_time_day"][:10]),
            {
                "impressions": whole(told["impressions"]),
                "clicks": whole(told["clicks"]),
                "spend": exact(told["spend"]),
                "conversions": None if conversions == "-" else exact(conversions),
                "videoViews": whole(told["video_play_actions"]),
                "reach": whole(told["reach"]),
            },
        )


X_COUNTS = {"impressions": "impressions", "clicks": "clicks", "videoViews": "video_total_views"}
X_CONVERSIONS = (
    "conversion_purchases",
    "conversion_sign_ups",
    "conversion_site_visits",
    "conversion_downloads",
    "conversion_custom",
)


def x(native: Iterable[Row]) -> Iterator[Day]:
    days: dict[date, dict[str, Any]] = {}
    for row in native:
        sums = days.setdefault(date.fromisoformat(row["date"]), {})
        for name, native_name in X_COUNTS.items():
            if (count := row.get(native_name)) is not None:
                sums[name] = sums.get(name, 0) + whole(count)
        if (spend := row.get("billed_charge_local_micro")) is not None:
            sums["spend"] = sums.get("spend", 0) + whole(spend)
        for kind in X_CONVERSIONS:
            if (told := row.get(kind)) is not None and (count := told.get("metric")) is not None:
                sums["conversions"] = sums.get("conversions", 0) + whole(count)
    for day, sums in days.items():
        spend = sums.get("spend")
        yield day, {**sums, "spend": scaled(spend, MICRO)}


LOOPS: dict[str, Callable[[Iterable[Row]], Iterator[Day]]] = {
    "amazon": amazon,
    "apple": apple,
    "chatgpt": chatgpt,
    "google": google,
    "linkedin": linkedin,
    "meta": meta,
    "outbrain": outbrain,
    "pinterest": pinterest,
    "reddit": reddit,
    "snapchat": snapchat,
    "tiktok": tiktok,
    "x": x,
}
