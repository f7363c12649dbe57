"""``adsunify webhooks``: manages subscriptions, and receives and verifies deliveries on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
from attrs import frozen

from adsunify.client import Ads
from adsunify.errors import invalid_input
from adsunify.events import EventName
from adsunify.http.safe_fetch import FetchError, fetch_url
from adsunify.models.error_messages import is_web_address
from adsunify.review.names import NameCandidate
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, WebhookVerificationError, verify

from . import output
from .completion import ACCOUNT
from .files import read_file
from .names import find_account, find_id
from .options import SecretParam, Target, csv_option, data_option, json_option, target_options
from .serve import make_stop_event
from .sockets import bind_socket
from .suggestions import Choice, CommandGroup

if TYPE_CHECKING:
    from aiohttp import web

DEFAULT_PORT = 8090
MAX_BODY_BYTES = 1024 * 1024
FORWARD_SECONDS = 15.0
SECRET_VARIABLE = "ADSUNIFY_WEBHOOK_SECRET"
FORWARDED_HEADERS = ("Content-Type", "User-Agent", EVENT_ID_HEADER, SIGNATURE_HEADER)


@click.group("webhooks", cls=CommandGroup)
def webhooks() -> None:
    """Manage webhooks, and receive and verify them on this machine."""


# -- subscriptions ------------------------------------------------------------------------------------------------


WEBHOOK_COLUMNS = (
    output.Column("webhook", shortens=True),
    output.Column("address", prose=True),
    output.Column("status"),
    output.Column("events", rank=2, prose=True),
    output.Column("account", rank=3, shortens=True),
    output.Column("created", rank=4),
)
DELIVERY_COLUMNS = (
    output.Column("delivery"),
    output.Column("event type"),
    output.Column("status"),
    output.Column("attempts", rank=1, number=True),
    output.Column("next attempt", rank=2),
    output.Column("event id", rank=3),
)
webhook_argument = click.argument("webhook")


def _find_webhook(client: Ads, text: str) -> str:
    """Return the id of the subscription that a text names: its id, the beginning of its id, or its address."""
    candidates = (NameCandidate(row.webhook_id, (row.url,), row.url) for row in client.webhooks.list())
    return find_id("WEBHOOK", "webhook", text, candidates)


def make_webhooks_table(rows: Sequence[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of subscriptions."""
    cells = [
        (
            row["webhookId"],
            row["url"],
            row["status"],
            ", ".join(row["events"]),
            row["accountId"] or "all",
            row["createdAt"],
        )
        for row in rows
    ]
    return output.make_table(WEBHOOK_COLUMNS, cells)


def make_deliveries_table(rows: Sequence[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of deliveries."""
    cells = [
        (row["deliveryId"], row["type"], row["status"], row["attempts"], row["nextAttemptAt"], row["eventId"])
        for row in rows
    ]
    return output.make_table(DELIVERY_COLUMNS, cells)


@webhooks.command("list")
@csv_option
@data_option
@target_options
def list_(target: Target, as_json: bool) -> None:
    """List the webhooks."""
    with target.open_client("Reading the webhooks") as client:
        rows = [row.to_dict() for row in client.webhooks.list()]
    output.print_result(rows, as_json, [make_webhooks_table(rows)])


@webhooks.command("create")
@click.argument("url")
@click.option("--account", type=ACCOUNT, metavar="ACCOUNT", help="Only events of this account.  [default: all]")
@click.option(
    "--event",
    "events",
    type=Choice(get_args(EventName)),
    multiple=True,
    metavar="EVENT",
    help="Deliver this event; can be repeated.  [default: those of operations]",
)
@data_option
@target_options
def create(target: Target, url: str, account: str | None, events: Sequence[EventName], as_json: bool) -> None:
    """Subscribe an address to events; its signing secret is shown only once.

    URL is an https address. A server delivers the events.
    """
    with target.open_client("Creating the webhook") as client:
        owner = None if account is None else find_account(client, account, "--account")
        row = client.webhooks.create(url=url, account=owner, events=events or None).to_dict()
    output.print_result(row, as_json, [make_webhooks_table([row]), f"secret: {row['secret']}"])


@webhooks.command("delete")
@webhook_argument
@data_option
@target_options
def delete(target: Target, webhook: str, as_json: bool) -> None:
    """Delete a webhook and its queued deliveries.

    WEBHOOK is its id or its address, as `adsunify webhooks list` shows them.
    """
    with target.open_client("Deleting the webhook") as client:
        row = client.webhooks.delete(_find_webhook(client, webhook)).to_dict()
    output.print_result(row, as_json, [f"deleted: {output.to_plain_text(row['url'])}"])


@webhooks.command("deliveries")
@webhook_argument
@csv_option
@data_option
@target_options
def deliveries(target: Target, webhook: str, as_json: bool) -> None:
    """List the latest deliveries of a webhook, newest first.

    WEBHOOK is its id or its address, as `adsunify webhooks list` shows them.
    """
    with target.open_client("Reading the deliveries") as client:
        rows = [row.to_dict() for row in client.webhooks.deliveries(_find_webhook(client, webhook))]
    output.print_result(rows, as_json, [make_deliveries_table(rows)])


@webhooks.command("test")
@webhook_argument
@data_option
@target_options
def test(target: Target, webhook: str, as_json: bool) -> None:
    """Queue a signed test notification for a webhook.

    WEBHOOK is its id or its address. `adsunify webhooks deliveries` shows what became of it.
    """
    with target.open_client("Queueing the notification") as client:
        row = client.webhooks.test(_find_webhook(client, webhook)).to_dict()
    output.print_result(row, as_json, [make_deliveries_table([row])])


# -- deliveries on this machine -----------------------------------------------------------------------------------


@webhooks.command("verify")
@click.option(
    "--secret",
    envvar=SECRET_VARIABLE,
    show_envvar=True,
    type=SecretParam(),
    required=True,
    help="The signing secret; - asks for it.",
)
@click.option("--event-id", required=True, metavar="ID", help=f"The header {EVENT_ID_HEADER}.")
@click.option("--signature", required=True, metavar="TEXT", help=f"The header {SIGNATURE_HEADER}.")
@click.argument("body", type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True))
@json_option
@click.pass_context
def verify_(ctx: click.Context, secret: str, event_id: str, signature: str, body: Path, as_json: bool) -> None:
    """Check the signature of a delivery.

    The file BODY has the exact bytes of its body ("-" reads stdin). Exit code 0: the signature is valid and at most 5
    minutes old. 1: it is not; stderr says why.
    """
    try:
        verify(read_file(body), {EVENT_ID_HEADER: event_id, SIGNATURE_HEADER: signature}, secret)
    except WebhookVerificationError as problem:
        if as_json:
            click.echo(dumps({"verified": False, "reason": str(problem)}))
        click.echo(f"not verified: {problem}", err=True)
        ctx.exit(1)
    click.echo(dumps({"verified": True, "reason": None}) if as_json else f"verified: {output.to_plain_text(event_id)}")


@webhooks.command("listen")
@click.option(
    "--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
@click.option(
    "--secret",
    envvar=SECRET_VARIABLE,
    show_envvar=True,
    type=SecretParam(),
    help="The signing secret; - asks for it. Without it, deliveries are not verified.",
)
@click.option("--forward", metavar="URL", help="Forward verified deliveries to this address.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON for the address, then one for each event.")
def listen(port: int, secret: str | None, forward: str | None, as_json: bool) -> None:
    """Receive deliveries and print them.

    The command listens on 127.0.0.1 until SIGINT or SIGTERM, verifies each delivery, and answers 204. A server delivers
    here only when it was started with `adsunify serve --webhook-dev-target http://127.0.0.1:PORT/`. POST /webhooks
    subscribes the address and shows the signing secret. Deliveries with another signature get 400.
    """
    if forward is not None and not is_web_address(forward):
        raise invalid_input("--forward", "malformed", "must be an http or https address.")
    asyncio.run(_run_receiver(port, Receiver(secret, forward, as_json)))


@frozen
class Receiver:
    """Handles deliveries. ``secret`` None: deliveries are not verified."""

    secret: str | None
    forward_url: str | None
    as_json: bool

    async def handle_delivery(self, request: web.Request) -> web.Response:
        """Verify, print and acknowledge one delivery."""
        from aiohttp import web

        body = await request.read()
        try:
            verified = self.secret is not None and bool(verify(body, request.headers, self.secret))
        except WebhookVerificationError as problem:
            click.echo(f"refused: {problem}", err=True)
            return web.Response(status=400, text=str(problem))
        forwarded = (
            None if self.forward_url is None else await _forward_delivery(self.forward_url, body, request.headers)
        )
        self._print_delivery(request.headers.get(EVENT_ID_HEADER, ""), body, verified, forwarded)
        return web.Response(status=204)

    def _print_delivery(self, event_id: str, body: bytes, verified: bool, forwarded: str | None) -> None:
        try:
            event = loads(body)
        except ValueError:
            event = None
        if self.as_json:
            click.echo(dumps({"eventId": event_id, "verified": verified, "forwarded": forwarded, "event": event}))
            return
        now = datetime.now(UTC).strftime("%H:%M:%S")
        fields = ["verified" if verified else "NOT VERIFIED", *_describe_event(event)]
        fields += [] if forwarded is None else [f"forwarded: {forwarded}"]
        output.print_parts(output.make_console(), ["  ".join((now, *map(output.to_plain_text, fields)))])


def _describe_event(event: Json) -> list[Json]:
    if not isinstance(event, Mapping):
        return ["not a JSON object"]
    data = event.get("data")
    members = (
        [f"{name}={value}" for name, value in data.items() if value is not None] if isinstance(data, Mapping) else []
    )
    return [event.get("type"), event.get("id"), *members]


async def _forward_delivery(url: str, body: bytes, headers: Mapping[str, str]) -> str:
    """Forward a delivery unchanged; returns the status or the error."""
    forwarded_headers = {name: headers[name] for name in FORWARDED_HEADERS if name in headers}
    try:
        answer = await fetch_url(
            url,
            method="POST",
            headers=forwarded_headers,
            content=body,
            timeout=FORWARD_SECONDS,
            limit=MAX_BODY_BYTES,
            cut=True,
            exempt={url},  # the user passed this address
        )
    except FetchError as problem:
        return problem.message
    return str(answer.status)


async def _run_receiver(port: int, receiver: Receiver) -> None:
    from aiohttp import web  # part of an extra, which help and `verify` do not need

    stop_event = make_stop_event()
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.router.add_post("/{anything:.*}", receiver.handle_delivery)
    listener = bind_socket("127.0.0.1", port)
    runner = web.AppRunner(app, shutdown_timeout=FORWARD_SECONDS, access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        click.echo(dumps({"url": url}) if receiver.as_json else f"Listening at {url}")
        if receiver.secret is None:
            click.echo("Without --secret, deliveries are not verified.", err=True)
        await stop_event.wait()
    finally:
        await runner.cleanup()
