"""A receiver with aiohttp: verify, store once, answer. ``WEBHOOK_SECRET=whsec_... python aiohttp_receiver.py``"""

import os
import sqlite3

from aiohttp import web

from adsunify.webhooks import WebhookVerificationError, verify

SECRET = os.environ["WEBHOOK_SECRET"]
inbox = sqlite3.connect(os.environ.get("INBOX", "inbox.db"), isolation_level=None)
inbox.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body BLOB, done INTEGER DEFAULT 0)")


async def receive(request: web.Request) -> web.Response:
    body = await request.read()  # the received bytes: the signature does not match rewritten JSON
    try:
        event_id = verify(body, request.headers, SECRET)
    except WebhookVerificationError as problem:
        return web.Response(status=400, text=str(problem))
    # a delivery may arrive twice: the key stores it once
    inbox.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", (event_id, body))
    return web.Response(status=204)  # answer at once; your worker reads the inbox


app = web.Application()
app.router.add_post("/hook", receive)

if __name__ == "__main__":
    web.run_app(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
