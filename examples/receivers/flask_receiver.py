"""A receiver with Flask: verify, store once, answer. ``WEBHOOK_SECRET=whsec_... python flask_receiver.py``"""

import os
import sqlite3
from contextlib import closing

from flask import Flask, request

from adsunify.webhooks import WebhookVerificationError, verify

SECRET = os.environ["WEBHOOK_SECRET"]
INBOX = os.environ.get("INBOX", "inbox.db")
app = Flask(__name__)

with closing(sqlite3.connect(INBOX)) as inbox, inbox:
    inbox.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body BLOB, done INTEGER DEFAULT 0)")


@app.post("/hook")
def receive() -> tuple[str, int]:
    body = request.get_data()  # the received bytes: the signature does not match rewritten JSON
    try:
        event_id = verify(body, request.headers, SECRET)
    except WebhookVerificationError as problem:
        return str(problem), 400
    with closing(sqlite3.connect(INBOX)) as inbox, inbox:  # a delivery may arrive twice: the key stores it once
        inbox.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", (event_id, body))
    return "", 204  # answer at once; your worker reads the inbox


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
