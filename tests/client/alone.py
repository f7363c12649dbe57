"""What ``pip install adsunify`` alone can do. It runs in an environment without our extras, and imports no test module.

``python alone.py`` is run by a test that blocks their packages, and by ``nox -s build`` in an environment without them.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

from adsunify import Ads, NativeAccount, plan, read_brief
from adsunify.errors import EXTRA_BY_PACKAGE, InvalidInput, MissingExtra
from adsunify.webhooks import WebhookVerificationError, sign, verify

BRIEF = {
    "name": "Garden chairs",
    "goal": "traffic",
    "budget": {"amount": "20.50", "currency": "USD", "period": "daily"},
    "schedule": {"startAt": "2030-03-01T08:00:00Z"},
    "targeting": {"countries": ["US"]},
    "creative": {
        "headline": "Built for rain",
        "body": "Folding chairs that stay outside.",
        "url": "https://shop.example/chairs",
        "imageHash": "0f1e2d3c4b5a",
    },
    "platform": {"pageId": "9009"},
}
NETWORK = {
    "network": "meta",
    "title": "Meta",
    "version": "26.0",
    "sunset": None,
    "sunsetIsProjected": False,
    "sunsetBasis": None,
    "login": {"kind": "oauth2", "scopes": [], "pkce": False, "note": ""},
    "formats": [],
    "extras": [],
    "notes": [],
}


class Server(BaseHTTPRequestHandler):
    """Answers every request with the one network, or with an error."""

    def do_GET(self) -> None:
        body = json.dumps({"data": [NETWORK]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Be silent."""


def main() -> None:
    """Use each part of the package; raise where one fails."""
    account = NativeAccount(network="meta", native_id="act_1", currency="USD", timezone="America/New_York")
    assert len(plan(read_brief(BRIEF), account).steps) == 4
    try:
        read_brief({**BRIEF, "goal": "trafic"})
    except InvalidInput as error:
        assert [issue.path for issue in error.issues] == ["goal"]
    else:
        raise AssertionError("a brief with an unknown goal is accepted")
    now = int(time.time())
    headers = {"Service-Event-Id": "one", "Service-Signature": sign(b"{}", "one", "whsec_x", now)}
    assert verify(b"{}", headers, "whsec_x") == "one"
    try:
        verify(b"[]", headers, "whsec_x")
    except WebhookVerificationError:
        pass
    else:
        raise AssertionError("a changed delivery is accepted")
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Ads(f"http://127.0.0.1:{server.server_port}", token="t") as client:
            assert [network.title for network in client.networks.list()] == ["Meta"]
            assert client.call("get_networks")["data"] == [NETWORK]
        server.shutdown()
    try:
        with Ads("sqlite:///never.db"):
            pass
    except MissingExtra as error:
        assert "pip install 'adsunify[store]'" in str(error)
    else:
        raise AssertionError("a store is opened without its packages")


if __name__ == "__main__":
    if "--blocked" in sys.argv:
        sys.modules.update(dict.fromkeys(EXTRA_BY_PACKAGE))
    else:
        installed = [name for name in EXTRA_BY_PACKAGE if find_spec(name)]
        assert not installed, f"adsunify alone installs {installed}"
    main()
    print("adsunify alone works")
