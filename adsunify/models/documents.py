"""Documents that people write in JSON or YAML: launches, files of campaigns, briefs."""

from __future__ import annotations

from adsunify.errors import invalid_input
from adsunify.models.error_messages import FILE
from adsunify.values.exact_json import Json, loads


def parse_document(content: bytes) -> dict[str, Json]:
    """Parse an object in JSON or YAML. Raises InvalidInput; issues of the whole document have the path ``FILE``.

    Text that begins with a brace is JSON. In YAML, amounts may be written without quotes.
    """
    try:
        text = content.decode("utf-8-sig")
        if text.lstrip().startswith("{"):
            document = loads(text)
        else:
            from .yaml_text import parse_yaml  # imported late: most programs read no YAML

            document = parse_yaml(text)
    except UnicodeDecodeError:
        raise invalid_input(FILE, "malformed", "must be UTF-8 text.") from None
    except ValueError as reason:
        raise invalid_input(FILE, "malformed_json", f"must be valid JSON: {reason}.") from None
    if not isinstance(document, dict):
        raise invalid_input(FILE, "wrong_type", "must be an object in JSON or YAML.")
    return document
