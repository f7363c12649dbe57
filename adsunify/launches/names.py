"""The names of campaigns that a template makes."""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.errors import Issue
from adsunify.models.launch import PLACEHOLDER
from adsunify.values.exact_json import Json


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders of a template. ``values`` has all of them."""
    return PLACEHOLDER.sub(lambda match: values[match[1]], template)


def find_country(brief: Mapping[str, Json]) -> str | None:
    """Return the value of ``{country}``; None if ``targeting.countries`` does not have exactly one."""
    targeting = brief.get("targeting")
    countries = targeting.get("countries") if isinstance(targeting, Mapping) else None
    if isinstance(countries, list | tuple) and len(countries) == 1 and isinstance(countries[0], str):
        return countries[0]
    return None


def make_country_issue(campaign_path: str, member: str) -> Issue:
    """Return the issue of a template with ``{country}`` for a brief without exactly one country.

    ``member`` is the member of the launch that has the template.
    """
    message = f"must have exactly one country, because {member} has the placeholder {{country}}."
    return Issue(f"{campaign_path}.targeting.countries", "required", message)
