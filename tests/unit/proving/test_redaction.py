"""Recordings of a proof contain no secret, no e-mail address and no name, and still fit together."""

from __future__ import annotations

from typing import Any

import pytest

from adsunify.proving.redaction import Redactor, find_secret
from adsunify.values.exact_json import dumps

TOKEN = "EAAB/zcLmQ+7"


def make_case(body: Any, url: str = "https://network.example/list") -> dict[str, Any]:
    return {"kind": "entities", "exchange": [{"request": {"url": url}, "response": {"status": 200, "body": body}}]}


def test_a_secret_of_the_connection_is_removed_in_each_form() -> None:
    case = make_case(
        {"next": "https://network.example/list?access=EAAB%2FzcLmQ%2B7"}, f"https://network.example/{TOKEN}"
    )
    text = dumps(Redactor({TOKEN}).redact(case, hides_names=True))
    assert TOKEN not in text and "EAAB%2F" not in text
    assert text.count("redacted-1") == 2


def test_a_page_token_is_replaced_alike_in_the_response_and_the_next_request() -> None:
    case = make_case({"nextPageToken": "CAESABC"})
    case["exchange"].append({"request": {"body": {"pageToken": "CAESABC"}}, "response": {"status": 200, "body": {}}})
    redacted = Redactor(set()).redact(case, hides_names=True)
    replaced = redacted["exchange"][0]["response"]["body"]["nextPageToken"]
    assert replaced != "CAESABC"
    assert redacted["exchange"][1]["request"]["body"]["pageToken"] == replaced


def test_names_and_addresses_of_people_are_replaced_and_own_texts_stay() -> None:
    body = {"name": "Ann Smith Ltd", "campaign_name": "Our chairs", "contact": "ann@smith.example", "status_name": "ON"}
    redacted_body = Redactor(set(), ["Our chairs"]).redact(make_case(body), hides_names=True)["exchange"][0][
        "response"
    ]["body"]
    assert redacted_body == {
        "name": "Name 1",
        "campaign_name": "Our chairs",
        "contact": "person@example.com",
        "status_name": "ON",
    }


def test_the_signature_of_an_address_is_replaced_alike_in_the_response_and_the_next_request() -> None:
    url = "https://files.example/r.csv?X-Amz-Credential=AKIA%2F20261128&part=1&X-Amz-Signature=0a1b2c3d4e"
    case = make_case({"url": url, "keys": "AKIA/20261128"})
    case["exchange"].append({"request": {"url": url}, "response": {"status": 200, "body": "a,b"}})
    redacted = Redactor(set()).redact(case, hides_names=True)["exchange"]
    text = dumps(redacted)
    assert "0a1b2c3d4e" not in text and "AKIA" not in text and "part=1" in text
    assert redacted[0]["response"]["body"]["url"] == redacted[1]["request"]["url"]


def test_a_secret_that_is_a_part_of_another_one_leaves_no_rest() -> None:
    redacted = Redactor({"abcdef", "abcdef123456"}).redact(make_case({"text": "x abcdef123456 y"}), hides_names=True)
    assert "123456" not in dumps(redacted)


def test_ids_of_people_are_replaced_alike_and_keep_their_form() -> None:
    body = {
        "created_by": "auth0|5f1a2b3c4d",
        "last_updated_by_user": "user-77aa88bb",
        "changeAuditStamps": {"created": {"actor": "urn:li:person:a1B2c3", "time": 1}},
        "user_id": "2417045708",
        "userId": 90001,
        "phone_number": "+49 30 901820",
        "urn": "urn:li:sponsoredCampaign:77",
    }
    case = make_case(body)
    case["exchange"].append({"request": {"url": "https://network.example/u?user_id=2417045708"}, "response": body})
    redacted = Redactor(set()).redact(case, hides_names=True)
    text = dumps(redacted)
    for part in ("5f1a2b3c4d", "77aa88bb", "a1B2c3", "2417045708", "90001", "901820"):
        assert part not in text, part
    redacted_body = redacted["exchange"][0]["response"]["body"]
    assert redacted_body["user_id"].isdecimal() and redacted["exchange"][1]["request"]["url"].endswith(
        redacted_body["user_id"]
    )
    assert redacted_body["changeAuditStamps"]["created"]["actor"].startswith("urn:li:person:")
    assert redacted_body["urn"] == "urn:li:sponsoredCampaign:77"


def test_a_resource_name_and_an_error_code_stay() -> None:
    body = {"resourceName": "customers/1/campaigns/2", "errorCode": {"authorizationError": "CUSTOMER_NOT_ENABLED"}}
    assert Redactor(set()).redact(make_case(body), hides_names=True)["exchange"][0]["response"]["body"] == body


@pytest.mark.parametrize(
    "text", [TOKEN, "a EAAB%2FzcLmQ%2B7 b", "RUFBQi96Y0xtUSs3", "Bearer abcdefgh12345678", '"authorization"']
)
def test_a_secret_that_was_not_removed_is_found(text: str) -> None:
    value = {"authorization": "x"} if text.startswith('"') else {"body": text}
    assert find_secret(value, [TOKEN]) is not None


def test_a_text_without_secrets_is_written() -> None:
    assert find_secret({"body": "the bearer of a name", "id": "1"}, [TOKEN, "abc"]) is None
