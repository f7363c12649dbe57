"""A receiver with FastAPI: verify, store once, answer. ``WEBHOOK_SECRET=whsec_... python fastapi_receiver.py``"""

import os
import sqlite3

import uvicorn
from fastapi import FastAPI, Request, Response

from adsunify.webhooks import WebhookVerificationError, verify

SECRET = os.environ["WEBHOOK_SECRET"]
inbox = sqlite3.connect(os.environ.get("INBOX", "inbox.db"), isolation_level=None)
inbox.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body BLOB, done INTEGER DEFAULT 0)")
app = FastAPI()


@app.post("/hook")
async def receive(request: Request) -> Response:
    body = await request.body()  # the received bytes: the signature does not match rewritten JSON
    try:
        event_id = verify(body, request.headers, SECRET)
    except WebhookVerificationError as problem:
        return Response(str(problem), status_code=400)
    # a delivery may arrive twice: the key stores it once
    inbox.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", (event_id, body))
    return Response(status_code=204)  # answer at once; your worker reads the inbox


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
