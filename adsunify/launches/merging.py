"""JSON Merge Patch (RFC 7396, October 2014)."""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.values.exact_json import Json


def merge_patch(base: Json, patch: Json) -> Json:
    """Return ``base`` with ``patch`` laid over it, as RFC 7396, section 2, defines it.

    Objects are merged, null removes a member, and every other value replaces the present one. Neither argument is
    changed; the result shares the parts that the patch does not name.
    """
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(base) if isinstance(base, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged
