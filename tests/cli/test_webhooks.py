"""Receiving webhooks on this machine: what is signed is printed and acknowledged, everything else is refused."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, sign

from .conftest import Networks
from .running import BRIEF, first_line, process, run

SECRET = "whsec_canary"
EVENT = {
    "id": "e1",
    "type": "operation.prepared",
    "data": {"operationId": "o1", "network": "meta", "status": "prepared"},
}
BODY = json.dumps(EVENT).encode()


def make_headers(secret: str = SECRET, ago: int = 0) -> dict[str, str]:
    return {EVENT_ID_HEADER: "e1", SIGNATURE_HEADER: sign(BODY, "e1", secret, int(time.time()) - ago)}


# -- verify --------------------------------------------------------------------------------------------------------


def verify_delivery(
    event_headers: Mapping[str, str], *more: str, body: bytes = BODY, secret: str = SECRET
) -> tuple[int, str, str]:
    arguments = (
        "--event-id",
        event_headers[EVENT_ID_HEADER],
        "--signature",
        event_headers[SIGNATURE_HEADER],
        "-",
        *more,
    )
    ran = run("webhooks", "verify", *arguments, stdin=body, ADSUNIFY_WEBHOOK_SECRET=secret)
    return ran.code, ran.out, ran.err


def test_what_is_signed_is_verified(tmp_path: Path) -> None:
    assert verify_delivery(make_headers()) == (0, "verified: e1\n", "")
    code, out, _ = verify_delivery(make_headers(), "--json")
    assert (code, json.loads(out)) == (0, {"verified": True, "reason": None})
    path = tmp_path / "body"
    path.write_bytes(BODY)
    event_headers = make_headers()
    options = ("--secret", "-", "--event-id", "e1", "--signature", event_headers[SIGNATURE_HEADER])
    assert run("webhooks", "verify", *options, str(path), stdin=f"{SECRET}\n".encode()).code == 0


@pytest.mark.parametrize(
    ("signing", "changed", "body", "reason"),
    [
        ({"secret": "whsec_other"}, {}, BODY, "no signature matches"),
        ({}, {EVENT_ID_HEADER: "e2"}, BODY, "no signature matches"),
        ({}, {}, BODY + b" ", "no signature matches"),
        ({"ago": 301}, {}, BODY, "5 minutes"),
        ({}, {SIGNATURE_HEADER: "nonsense"}, BODY, "malformed"),
    ],
)
def test_what_is_not_is_refused_with_the_reason(
    signing: Any, changed: Mapping[str, str], body: bytes, reason: str
) -> None:
    event_headers = {**make_headers(**signing), **changed}
    code, out, err = verify_delivery(event_headers, body=body)
    assert (code, out) == (1, "") and reason in err
    assert SECRET not in err
    code, out, _ = verify_delivery(event_headers, "--json", body=body)
    assert code == 1 and json.loads(out)["verified"] is False


def test_a_secret_is_needed() -> None:
    assert run("webhooks", "verify", "--event-id", "e", "--signature", "s", "-").code == 2


# -- listen --------------------------------------------------------------------------------------------------------


def post(url: str, event_headers: Mapping[str, str]) -> int:
    return httpx.post(url, content=BODY, headers=dict(event_headers), trust_env=False, timeout=30).status_code


def test_deliveries_are_printed_and_passed_on(tmp_path: Path) -> None:
    taken: list[tuple[bytes, str | None]] = []

    class Program(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append((self.rfile.read(int(self.headers["Content-Length"])), self.headers[SIGNATURE_HEADER]))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    program = HTTPServer(("127.0.0.1", 0), Program)
    Thread(target=program.serve_forever, daemon=True).start()
    forward = f"http://127.0.0.1:{program.server_port}/hooks"
    options = ("--port", "0", "--forward", forward, "--json")
    with process("webhooks", "listen", *options, ADSUNIFY_WEBHOOK_SECRET=SECRET) as listening:
        url = first_line(listening)["url"]
        event_headers = make_headers()
        assert post(url, event_headers) == 204
        assert first_line(listening) == {"eventId": "e1", "verified": True, "forwarded": "202", "event": EVENT}
        assert taken == [(BODY, event_headers[SIGNATURE_HEADER])]
        assert post(url, make_headers("whsec_other")) == 400
        assert post(url, {}) == 400
        program.shutdown()
        program.server_close()
        assert post(url, make_headers()) == 204, "what is passed on to may be away"
        assert first_line(listening)["forwarded"] != "202"
        listening.terminate()
        out, err = listening.communicate(timeout=60)
    assert listening.returncode == 0
    assert len(taken) == 1 and out == "" and err.count("refused:") == 2 and SECRET not in err


def test_without_a_secret_nothing_is_verified_and_it_says_so() -> None:
    with process("webhooks", "listen", "--port", "0") as listening:
        assert listening.stdout is not None
        url = listening.stdout.readline().split()[-1]
        assert post(url, {}) == 204
        line = listening.stdout.readline()
        assert "NOT VERIFIED" in line and "operation.prepared" in line and "operationId=o1" in line
        listening.terminate()
        _, err = listening.communicate(timeout=60)
    assert "deliveries are not verified" in err


@pytest.mark.parametrize("arguments", [("--forward", "ftp://x"), ("--port", "70000")])
def test_what_cannot_be_listened_with(arguments: tuple[str, ...]) -> None:
    assert run("webhooks", "listen", *arguments).code == 2


def test_a_servers_events_arrive(networks: Networks, tmp_path: Path) -> None:
    """As a developer works: serve with the address of a listener as target, subscribe, listen with the secret."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    where = {"ADSUNIFY_SANDBOX_URL": networks.url, "ADSUNIFY_DATABASE_URL": f"sqlite:///{tmp_path / 'w.db'}"}
    options = ("--sandbox", "--port", "0", "--json", "--webhook-dev-target", url)
    with process("serve", *options, log=tmp_path / "log", **where) as server:
        ready = first_line(server)
        environment = {"ADSUNIFY_SERVER": ready["baseUrl"], "ADSUNIFY_TOKEN": ready["apiKey"]}
        subscribed = run("webhooks", "create", url, "--event", "operation.prepared", "--json", **environment).data
        secret = subscribed["secret"]
        with process("webhooks", "listen", "--port", str(port), "--json", ADSUNIFY_WEBHOOK_SECRET=secret) as listening:
            first_line(listening)
            account = next(
                account_row["accountId"] for account_row in ready["accounts"] if account_row["network"] == "chatgpt"
            )
            operation = run("create", account, BRIEF, "--json", **environment).data["id"]
            delivery = first_line(listening)
        assert delivery["verified"] is True
        assert (delivery["event"]["type"], delivery["event"]["data"]["operationId"]) == (
            "operation.prepared",
            operation,
        )
        assert [row["webhookId"] for row in run("webhooks", "list", "--json", **environment).data] == [
            subscribed["webhookId"]
        ]
        tested = run("webhooks", "test", url, "--json", **environment).data["deliveryId"]
        queued = run("webhooks", "deliveries", subscribed["webhookId"][:18], "--csv", **environment).out.splitlines()
        assert queued[0].startswith("delivery,event type,status,attempts") and queued[1].startswith(f"{tested},")
        assert len(queued) == 3
        assert run("webhooks", "delete", url, "--json", **environment).code == 0
        assert run("webhooks", "list", "--json", **environment).data == []
        assert "There are no webhooks" in run("webhooks", "deliveries", "hooks.acme.example", **environment).err
