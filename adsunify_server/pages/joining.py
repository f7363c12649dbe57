"""Signing in and out, invitations, the people of a workspace."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.problem_details import described
from adsunify.service import signing_in

from .visiting import SESSION, Door, Visit, cookie_name, local


def add_pages(door: Door) -> None:
    """``/sign-in``, ``/sign-out``, ``/workspace``, ``/password``, ``/people``, ``/invitation/<token>``."""
    door.get("/sign-in", show_sign_in, open_=True)
    door.post("/sign-in", sign_in, open_=True)
    door.post("/sign-out", sign_out)
    door.post("/workspace", choose)
    door.get("/people", show_people)
    door.post("/people", invite)
    door.post("/people/role", change_role)
    door.post("/people/remove", remove)
    door.get("/password", show_password)
    door.post("/password", change_password)
    door.get("/invitation/{token}", show_invitation, open_=True)
    door.post("/invitation/{token}", accept, open_=True)


async def show_sign_in(visit: Visit) -> web.Response:
    """The form to sign in with."""
    following = local(visit.request.query.get("next", ""))
    if visit.visitor is not None:
        return visit.to(following)
    return visit.page("sign-in.html", following=following, email="", problem=None)


async def sign_in(visit: Visit) -> web.Response:
    """Begin a session; one that the browser had ends."""
    email, following = visit.form.get("email", ""), local(visit.form.get("next", ""))
    try:
        token = await signing_in.sign_in(
            visit.service, visit.tries, email, visit.form.get("password", ""), visit.source
        )
    except AdsunifyError as problem:
        return visit.telling(problem, "sign-in.html", following=following, email=email, problem=problem.message)
    if visit.visitor is not None:
        await signing_in.sign_out(visit.service, visit.visitor)
    return visit.begin_session(token, following)


async def sign_out(visit: Visit) -> web.Response:
    """End the session."""
    await signing_in.sign_out(visit.service, visit.person)
    answer = visit.to("/sign-in")
    answer.del_cookie(cookie_name(visit.service, SESSION), path="/")
    return answer


async def choose(visit: Visit) -> web.Response:
    """Look at another workspace."""
    await signing_in.choose(visit.service, visit.person, visit.form.get("workspaceId", ""))
    return visit.to("/operations")


async def show_password(visit: Visit) -> web.Response:
    """The form to change one's password with."""
    return visit.page("password.html", problem=None)


async def change_password(visit: Visit) -> web.Response:
    """Change one's password; other sessions end."""
    now, new = visit.form.get("password", ""), visit.form.get("new", "")
    try:
        token = await signing_in.change_password(visit.service, visit.tries, visit.person, now, new, visit.source)
    except AdsunifyError as problem:
        return visit.telling(problem, "password.html", problem=described(problem))
    return visit.begin_session(token, "/people")


async def show_people(visit: Visit) -> web.Response:
    """Who belongs here; an admin invites others."""
    return await _people(visit)


async def invite(visit: Visit) -> web.Response:
    """Make an invitation; its link is shown this once."""
    email, role = visit.form.get("email", ""), visit.form.get("role", "")
    try:
        link = await signing_in.invite(visit.service, visit.actor, email, role)
    except AdsunifyError as problem:
        return await _people(visit, problem.status, problem=described(problem))
    return await _people(visit, 201, link=link, email=email)


async def change_role(visit: Visit) -> web.Response:
    """Make a member something else."""
    try:
        await signing_in.change_role(
            visit.service, visit.person, visit.form.get("email", ""), visit.form.get("role", "")
        )
    except AdsunifyError as problem:
        return await _people(visit, problem.status, problem=described(problem))
    return visit.to("/people")


async def remove(visit: Visit) -> web.Response:
    """Take a member out of the workspace."""
    visit.confirmed()
    try:
        await signing_in.remove(visit.service, visit.person, visit.form.get("email", ""))
    except AdsunifyError as problem:
        return await _people(visit, problem.status, problem=described(problem))
    return visit.to("/people")


async def _people(visit: Visit, status: int = 200, **more: object) -> web.Response:
    found = await signing_in.members(visit.service, visit.actor)
    return visit.page("people.html", status, **{"people": found, "link": None, "email": "", "problem": None, **more})


async def show_invitation(visit: Visit) -> web.Response:
    """What the invitation says, and how to join."""
    return visit.page("invitation.html", **await _invitation(visit), problem=None)


async def accept(visit: Visit) -> web.Response:
    """Join, and go on in the workspace."""
    try:
        token = await signing_in.accept(
            visit.service, visit.tries, visit.path("token"), visit.form.get("password", ""), visit.source, visit.visitor
        )
    except AdsunifyError as problem:
        if problem.status == 404:
            raise
        return visit.telling(problem, "invitation.html", **await _invitation(visit), problem=problem.message)
    if visit.visitor is not None:
        await signing_in.sign_out(visit.service, visit.visitor)
    return visit.begin_session(token, "/operations")


async def _invitation(visit: Visit) -> dict[str, Any]:
    asked = await signing_in.invitation(visit.service, visit.path("token"))
    return {"asked": asked, "here": visit.visitor is not None and visit.visitor.email == asked.email}
