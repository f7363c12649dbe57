"""A receiver with Django: verify, store once, answer. ``WEBHOOK_SECRET=whsec_... python django_receiver.py``

In a project of yours only ``receive`` and its line in ``urlpatterns`` are needed.
"""

import os
import sqlite3
from contextlib import closing
from wsgiref.simple_server import make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from adsunify.webhooks import WebhookVerificationError, verify

SECRET = os.environ["WEBHOOK_SECRET"]
INBOX = os.environ.get("INBOX", "inbox.db")
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"])

with closing(sqlite3.connect(INBOX)) as inbox, inbox:
    inbox.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body BLOB, done INTEGER DEFAULT 0)")


@csrf_exempt  # the signature proves who sent the request
@require_POST
def receive(request: HttpRequest) -> HttpResponse:
    body = request.body  # the received bytes: the signature does not match rewritten JSON
    try:
        event_id = verify(body, request.headers, SECRET)
    except WebhookVerificationError as problem:
        return HttpResponse(str(problem), status=400)
    with closing(sqlite3.connect(INBOX)) as inbox, inbox:  # a delivery may arrive twice: the key stores it once
        inbox.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", (event_id, body))
    return HttpResponse(status=204)  # answer at once; your worker reads the inbox


urlpatterns = [path("hook", receive)]
application = get_wsgi_application()

if __name__ == "__main__":
    make_server("127.0.0.1", int(os.environ.get("PORT", "8000")), application).serve_forever()
