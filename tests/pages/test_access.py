"""Who may do what on the pages: the same as through the API; and what no other origin can do."""

from __future__ import annotations

import pytest

from adsunify.service.users import add_member, create_workspace, remove_member
from adsunify_server.app import make_application
from tests.server.served import NEVER, Served, brief, connect

from .browsing import PASSWORD, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
CLOSED = (
    "/",
    "/operations",
    f"/review/{NEVER}",
    "/accounts",
    f"/accounts/{NEVER}",
    f"/accounts/{NEVER}/insights",
    f"/accounts/{NEVER}/create",
    *(f"/accounts/{NEVER}/{word}" for word in ("campaigns", "ad-groups", "ads")),
    *(f"/accounts/{NEVER}/{word}/{NEVER}" for word in ("campaigns", "ad-groups", "ads")),
    "/reviews",
    "/launches",
    "/launches/new",
    f"/launches/{NEVER}",
    f"/change-sets/{NEVER}",
    "/insights",
    "/connections",
    "/connections/credentials/apple",
    "/guardrails",
    "/guardrails/new",
    f"/guardrails/{NEVER}",
    "/alerts",
    "/keys",
    "/connected-agents",
    "/webhooks",
    f"/webhooks/{NEVER}",
    f"/webhooks/{NEVER}/deliveries/{NEVER}",
    "/ledger",
    "/people",
    "/password",
    "/oauth/authorize",
)
POSTS = (
    "/sign-in",
    "/sign-out",
    "/workspace",
    "/people",
    "/people/role",
    "/people/remove",
    "/password",
    "/invitation/x",
    "/oauth/authorize",
    f"/review/{NEVER}/execute",
    f"/review/{NEVER}/cancel",
    f"/review/{NEVER}/inspect",
    f"/review/{NEVER}/activate",
    f"/review/{NEVER}/undo",
    f"/review/{NEVER}/resume",
    f"/review/{NEVER}/settle",
    "/reviews/execute",
    f"/accounts/{NEVER}/create",
    *(f"/accounts/{NEVER}/{word}" for word in ("campaigns", "ad-groups", "ads")),
    *(f"/accounts/{NEVER}/{word}/{NEVER}" for word in ("campaigns", "ad-groups", "ads")),
    "/launches/new",
    *(f"/launches/{NEVER}/{word}" for word in ("activate", "pause", "undo", "prepare")),
    f"/change-sets/{NEVER}/execute",
    f"/change-sets/{NEVER}/cancel",
    "/webhooks",
    f"/webhooks/{NEVER}",
    f"/webhooks/{NEVER}/test",
    f"/webhooks/{NEVER}/delete",
    f"/webhooks/{NEVER}/deliveries/{NEVER}/redeliver",
    "/connections/link",
    "/connections/credentials/apple",
    f"/connections/{NEVER}/disconnect",
    "/guardrails",
    "/guardrails/lift",
    f"/guardrails/{NEVER}",
    f"/guardrails/{NEVER}/delete",
    "/alerts",
    f"/alerts/{NEVER}",
    f"/alerts/{NEVER}/delete",
    "/keys",
    f"/keys/{NEVER}/revoke",
    f"/connected-agents/{NEVER}/revoke",
    "/connect/x",
)


async def prepare_operation(site: Served, name: str = "admin") -> str:
    """A prepared operation of a person."""
    account = site.accounts.get("meta") or await connect(site, "meta")
    operation = await site.person(name).post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    return str(operation["id"])


async def test_the_lists_above_are_whole(site: Served) -> None:
    """Every page and form of the server is tried below."""
    gets = {_get_shape(path) for path in (*CLOSED, "/sign-in", "/invitation/x", "/connect/x")}
    assert set(_list_routes(site)) == {(method, path) for method in ("GET", "HEAD") for path in gets} | {
        ("POST", _get_shape(path)) for path in POSTS
    }


async def test_head_is_a_page_without_its_body(site: Served) -> None:
    async with browser(site) as person:
        for signed_in in (False, True):
            if signed_in:
                await person.sign_in(email("admin"))
            for path in (*CLOSED, "/sign-in", "/docs", "/openapi.json", "/healthz"):
                address = site.base_url + path
                page = await person.http.get(address, follow_redirects=False)
                head = await person.http.head(address, follow_redirects=False)
                assert head.content == b"" and head.status_code == page.status_code, path
                changing = {"x-request-id", "date", "set-cookie"}
                if not signed_in or not page.content:  # without a cookie, each page has a token of its own
                    changing.add("content-length")
                headers = [
                    {name: response.headers[name] for name in response.headers if name not in changing}
                    for response in (page, head)
                ]
                assert headers[0] == headers[1], path


async def test_a_member_of_a_form_or_query_stands_once(site: Served) -> None:
    """Nobody knows which of two is meant."""
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/keys?x=1&x=2", 422)
        await person.open("/keys")
        token = person.page.form("/keys").fields["csrf"]
        rows = await site.rows()
        twice = f"csrf={token}&name=robot&days=30&canWrite=false&canWrite=true"
        answer = await person.http.post(
            f"{site.base_url}/keys", content=twice, headers={"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert answer.status_code == 422 and await site.rows() == rows


def _list_routes(site: Served) -> list[tuple[str, str]]:
    app = make_application(site.service, delivers=False)
    routes = []
    for route in app.router.routes():
        if route.handler.__qualname__.startswith("PageRouter."):
            assert route.resource is not None
            shape = "/".join("*" if "{" in part else part for part in route.resource.canonical.split("/"))
            routes.append((route.method, shape))
    return routes


def _get_shape(path: str) -> str:
    return "/".join("*" if part in (NEVER, "x", "apple") else part for part in path.split("/"))


@pytest.mark.parametrize("path", CLOSED)
async def test_without_a_session_one_signs_in(site: Served, path: str) -> None:
    async with browser(site) as person:
        await person.open(path)
        assert person.path == "/sign-in"


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_without_its_token_is_403(site: Served, path: str) -> None:
    rows = await site.rows()
    async with browser(site) as person:  # with no cookie at all, as from another origin
        answer = await person.http.post(site.base_url + path, data={"csrf": "0" * 64, "confirmed": "true"})
        assert answer.status_code == 403 and "did not come from a page" in answer.text
        await person.sign_in(email("admin"))
        rows = await site.rows()
        token = person.page.form("/sign-out").fields["csrf"]
        for sent in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}):
            answer = await person.http.post(site.base_url + path, data={**sent, "confirmed": "true"})
            assert answer.status_code == 403, sent
        for foreign in ("cross-site", "same-site"):
            headers = {"Sec-Fetch-Site": foreign}
            answer = await person.http.post(site.base_url + path, data={"csrf": token}, headers=headers)
            assert answer.status_code == 403
        answer = await person.http.post(site.base_url + path, json={"csrf": token})
        assert answer.status_code == 403
    assert await site.rows() == rows


async def test_what_is_no_form(both: Served) -> None:
    async with browser(both) as person:
        await person.open("/sign-in")
        for kind, body in (
            ("application/x-www-form-urlencoded", b"csrf=\xff"),
            ("application/x-www-form-urlencoded; charset=nothing", b"csrf=x"),
            ("application/x-www-form-urlencoded", b"%%%=&&&"),
            ("application/x-www-form-urlencoded", b""),
            ("multipart/form-data; boundary=x", b"--x--"),
            ("text/plain", b"csrf=x"),
        ):
            answer = await person.http.post(f"{both.base_url}/sign-in", content=body, headers={"Content-Type": kind})
            assert answer.status_code == 403, (kind, body)
        for encoding in ("gzip", "deflate"):
            headers = {"Content-Type": "application/x-www-form-urlencoded", "Content-Encoding": encoding}
            answer = await person.http.post(
                f"{both.base_url}/sign-in", content=b"csrf=no such thing", headers={**headers, "Connection": "close"}
            )
            assert answer.status_code == 415, encoding
        await person.send({"email": "a\x00@x.example", "password": "x"}, expected=422)
        await person.sign_in(email("member"))
        await person.open("/oauth/authorize?client_id=%00", 422)


async def test_another_persons_token_is_none(site: Served) -> None:
    async with browser(site) as admin, browser(site) as member:
        await admin.sign_in(email("admin"))
        await member.sign_in(email("member"))
        token = member.page.form("/sign-out").fields["csrf"]
        answer = await admin.http.post(f"{site.base_url}/sign-out", data={"csrf": token})
        assert answer.status_code == 403


async def test_a_form_changes_the_workspace_that_its_page_showed(site: Served) -> None:
    """A form acts in the workspace that its page showed, or is refused: another tab may have chosen another one."""
    store, address = site.service.store, "everywhere@shop.example"
    first = await add_member(store, "shop", address, "admin", PASSWORD)
    second = await create_workspace(store, "a second shop", address, None)
    async with browser(site) as person:
        await person.sign_in(address)
        await person.send({"workspaceId": str(first["workspaceId"])}, action="/workspace")
        for left in (False, True):
            page = (await person.open("/people")).form("/people")
            assert "People of shop" in person.text
            if left:
                await remove_member(store, "shop", address)
            else:
                await person.send({"workspaceId": str(second["workspaceId"])}, action="/workspace")
            rows = await site.rows()
            sent = {**page.fields, "email": "friend@x.example", "role": "admin"}
            answer = await person.http.post(f"{site.base_url}/people", data=sent)
            assert answer.status_code == 403 and "another workspace" in answer.text
            assert await site.rows() == rows
            await person.open("/people")
            assert "People of a second shop" in person.text
            if not left:
                await person.send({"workspaceId": str(first["workspaceId"])}, action="/workspace")


async def test_a_viewer_reads(site: Served) -> None:
    id_ = await prepare_operation(site)
    async with browser(site) as person:
        await person.sign_in(email("viewer"))
        token = person.page.form("/sign-out").fields["csrf"]
        rest = ("/connections", "/keys", "/connected-agents", "/webhooks", "/people", "/launches", "/launches/new")
        for path in ("/operations", "/accounts", *rest):
            await person.open(path)
            posts = {form.action for form in person.page.forms if form.method == "post"}
            assert {action for action in posts if not action.endswith("/revoke")} == {"/sign-out"}, path
            assert path == "/keys" or posts == {"/sign-out"}, path  # a viewer ends his own keys
        await person.open("/connections/credentials/apple", 403)
        await person.open(f"/review/{id_}", 404)  # as through the API: not in his scope
        rows = await site.rows()
        for path in (f"/review/{id_}/execute", "/keys", "/connections/link", "/connections/credentials/apple"):
            sent = {"csrf": token, "confirmed": "true", "name": "x", "network": "meta", "clientId": "x"}
            answer = await person.http.post(site.base_url + path, data=sent)
            assert answer.status_code == 403, (path, answer.text)
        assert await site.rows() == rows


async def test_a_member_decides_his_own(site: Served) -> None:
    mine, theirs = await prepare_operation(site, "member"), await prepare_operation(site)
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(f"/review/{theirs}", 404)
        await person.open(f"/review/{mine}")
        await person.send({"confirmed": "true"}, action="/execute")
        assert "succeeded" in person.text
    async with browser(site) as admin:  # sees and executes his workspace's, cancels his own only
        await admin.sign_in(email("admin"))
        await admin.open(f"/review/{await prepare_operation(site, 'member')}")
        assert "by member@shop.example" in admin.text
        assert not [form for form in admin.page.forms if form.action.endswith("/cancel")]


async def test_another_workspace_is_404(site: Served) -> None:
    id_ = await prepare_operation(site)
    account = site.accounts["meta"]
    async with browser(site) as person:
        await person.sign_in(email("stranger", "other"))
        token = person.page.form("/sign-out").fields["csrf"]
        for path in (f"/review/{id_}", f"/accounts/{account}", f"/accounts/{account}/insights"):
            await person.open(path, 404)
        for path in (f"/review/{id_}/execute", f"/review/{id_}/cancel", f"/review/{id_}/activate"):
            answer = await person.http.post(site.base_url + path, data={"csrf": token, "confirmed": "true"})
            assert answer.status_code == 404


async def test_a_failed_execution_is_told_on_its_review(site: Served) -> None:
    id_ = await prepare_operation(site)
    await site.networks.fault("meta", "reset_after", path="/v26.0/act_1001/campaigns")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/review/{id_}")
        await person.send({"confirmed": "true"}, action="/execute", expected=400)
        assert "It is not known whether" in person.text and "unknown" in person.text
        await person.send({}, action="/inspect")
        assert "Exactly one campaign agrees with the plan" in person.text and "to the last page" in person.text
        await person.open(f"/review/{id_}")
        assert "It is not known whether" in person.text
        assert not [form for form in person.page.forms if form.action.endswith("/execute")]


async def test_an_expired_one_cannot_be_executed(site: Served) -> None:
    id_ = await prepare_operation(site)
    site.hands.pass_(minutes=31)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(f"/review/{id_}")
        assert "expired" in person.text
        forms = [form.action for form in person.page.forms if "/review/" in form.action]
        assert forms == [f"/review/{id_}/resume"], "it can only be prepared again"


async def test_keys(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/keys")
        await person.send({"name": "<b>robot</b>", "days": "30", "canWrite": "true"}, action="/keys", expected=201)
        secret = next(word for word in person.text.split() if word.startswith("adu_") and len(word) == 56)
        verified = await site.caller(secret).get("/auth/verify")
        assert verified["canWrite"] and verified["expiresAt"] is not None
        await person.open("/keys")
        assert secret not in person.text and "<b>robot</b>" in person.text
        form = next(form for form in person.page.forms if any("robot" in text for text, _, _ in form.buttons))
        answer = await person.http.post(site.base_url + form.action, data={"csrf": form.fields["csrf"]})
        assert answer.status_code == 422  # not confirmed
        await person.send(button="Revoke <b>robot</b>")
        await site.caller(secret).problem(401, "GET", "/auth/verify")
        await person.send({"name": ""}, action="/keys", expected=422)
        rows, form = await site.rows(), person.page.form("/keys")
        for days in ({"days": "7"}, {"days": "090"}, {}):  # a key that lives for ever is one that was asked for
            sent = {"csrf": form.fields["csrf"], "name": "robot", **days}
            assert (await person.http.post(f"{site.base_url}/keys", data=sent)).status_code == 422
        assert await site.rows() == rows


async def test_a_key_for_some_accounts(site: Served) -> None:
    meta = site.accounts.get("meta") or await connect(site, "meta")
    snapchat = site.accounts.get("snapchat") or await connect(site, "snapchat")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open("/keys")
        assert "Without a tick the key reaches all accounts" in person.text
        for boxes, scope in (
            ((f"account.{meta}",), {"accountIds": [meta]}),
            (("network.snapchat",), {"networks": ["snapchat"]}),
            (("network.snapchat", f"account.{snapchat}"), {"networks": ["snapchat"], "accountIds": [snapchat]}),
        ):
            values = {"name": "bound", "days": "30", **dict.fromkeys(boxes, "true")}
            await person.send(values, action="/keys", expected=201)
            secret = next(word for word in person.text.split() if word.startswith("adu_") and len(word) == 56)
            assert (await site.caller(secret).get("/auth/verify"))["scope"] == scope
            assert not [name for name in person.page.form("/keys").fields if "." in name]  # ticks are for one key
        name = (await site.admin.get(f"/accounts/{snapchat}"))["name"]
        assert f"read Snapchat: {name} " in person.text and "read all accounts" in person.text
        rows, wrong = await site.rows(), {"network.snapchat": "true", f"account.{meta}": "true"}
        await person.send({"name": "bound", "days": "30", **wrong}, action="/keys", expected=422)
        assert "is an account of a network that scope.networks lacks." in person.text
        assert wrong.items() <= person.page.form("/keys").fields.items()  # they are kept for the next try
        assert await site.rows() == rows


@pytest.mark.parametrize("name", ["viewer", "member"])
async def test_everybody_revokes_his_own_keys(site: Served, name: str) -> None:
    _, secret = await site.key(name, title=f"robot of the {name}")
    _, other = await site.key("admin", title="robot of the admin")
    async with browser(site) as person:
        await person.sign_in(email(name))
        await person.follow("API keys")
        texts = [text for form in person.page.forms for text, _, _ in form.buttons]
        assert f"Revoke robot of the {name}" in texts and "Revoke robot of the admin" not in texts
        await person.send(button=f"Revoke robot of the {name}")
        assert person.path == "/keys"
        await site.caller(secret).problem(401, "GET", "/auth/verify")
        await site.caller(other).get("/auth/verify")


async def test_a_webhook_that_has_ended_says_why(site: Served) -> None:
    async def resolve_public(host: str) -> list[str]:
        return ["93.184.216.34"]

    site.service.resolve_host = resolve_public
    key_id, secret = await site.key("admin")
    await site.caller(secret).post("/webhooks", {"url": "HTTPS://hooks.example.com/ended"}, 201)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.follow("Webhooks")
        assert "active" in person.text and "ended" not in person.text.replace("/ended", "")
        await site.admin.delete(f"/keys/{key_id}")
        await person.open("/webhooks")
        assert "ended The API key that created it was revoked." in person.text


async def test_insights_that_cannot_be(site: Served) -> None:
    await prepare_operation(site)
    account = site.accounts["meta"]
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        for start, end in (("x", "2026-02-01"), ("2026-02-02", "2026-02-01"), ("2999-01-01", "2999-01-02")):
            await person.open(f"/accounts/{account}/insights?startDate={start}&endDate={end}", 422)
            assert [form for form in person.page.forms if form.action.endswith("/insights")]
