"""Pages for signing in and out, for invitations, and for the people of a workspace."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details
from adsunify.service import sessions
from adsunify_server.pages.request import SESSION_COOKIE, PageRequest, PageRouter, cookie_name, local_path_or_default


def add_pages(router: PageRouter) -> None:
    """Add ``/sign-in``, ``/sign-out``, ``/workspace``, ``/password``, ``/people`` and ``/invitation/<token>``."""
    router.add_get("/sign-in", show_sign_in, open_=True)
    router.add_post("/sign-in", sign_in, open_=True)
    router.add_post("/sign-out", sign_out)
    router.add_post("/workspace", switch_workspace)
    router.add_get("/people", show_people)
    router.add_post("/people", invite_member)
    router.add_post("/people/role", change_role)
    router.add_post("/people/remove", remove_member)
    router.add_get("/password", show_password)
    router.add_post("/password", change_password)
    router.add_get("/invitation/{token}", show_invitation, open_=True)
    router.add_post("/invitation/{token}", accept_invitation, open_=True)


async def show_sign_in(visit: PageRequest) -> web.Response:
    """Show the sign-in form."""
    following = local_path_or_default(visit.request.query.get("next", ""))
    if visit.user_session is not None:
        return visit.redirect(following)
    return visit.render_page("sign-in.html", following=following, email="", problem=None)


async def sign_in(visit: PageRequest) -> web.Response:
    """Begin a session; the browser's earlier session ends."""
    email, following = visit.form.get("email", ""), local_path_or_default(visit.form.get("next", ""))
    try:
        token = await sessions.sign_in(
            visit.service, visit.sign_in_throttle, email, visit.form.get("password", ""), visit.client_ip
        )
    except AdsunifyError as problem:
        return visit.render_problem(problem, "sign-in.html", following=following, email=email, problem=problem.message)
    if visit.user_session is not None:
        await sessions.sign_out(visit.service, visit.user_session)
    return visit.begin_session(token, following)


async def sign_out(visit: PageRequest) -> web.Response:
    """End the session."""
    await sessions.sign_out(visit.service, visit.signed_in_session)
    answer = visit.redirect("/sign-in")
    answer.del_cookie(cookie_name(visit.service, SESSION_COOKIE), path="/")
    return answer


async def switch_workspace(visit: PageRequest) -> web.Response:
    """Switch to another workspace."""
    await sessions.switch_workspace(visit.service, visit.signed_in_session, visit.form.get("workspaceId", ""))
    return visit.redirect("/operations")


async def show_password(visit: PageRequest) -> web.Response:
    """Show the form for a new password."""
    return visit.render_page("password.html", problem=None)


async def change_password(visit: PageRequest) -> web.Response:
    """Change the person's password; other sessions end."""
    now, new = visit.form.get("password", ""), visit.form.get("new", "")
    try:
        token = await sessions.change_password(
            visit.service, visit.sign_in_throttle, visit.signed_in_session, now, new, visit.client_ip
        )
    except AdsunifyError as problem:
        return visit.render_problem(problem, "password.html", problem=to_problem_details(problem))
    return visit.begin_session(token, "/people")


async def show_people(visit: PageRequest) -> web.Response:
    """Show the members of the workspace."""
    return await _people_page(visit)


async def invite_member(visit: PageRequest) -> web.Response:
    """Create an invitation and show its link once."""
    email, role = visit.form.get("email", ""), visit.form.get("role", "")
    try:
        link = await sessions.create_invitation(visit.service, visit.actor, email, role)
    except AdsunifyError as problem:
        return await _people_page(visit, problem.status, problem=to_problem_details(problem))
    return await _people_page(visit, 201, link=link, email=email)


async def change_role(visit: PageRequest) -> web.Response:
    """Change a member's role."""
    try:
        await sessions.change_member_role(
            visit.service, visit.signed_in_session, visit.form.get("email", ""), visit.form.get("role", "")
        )
    except AdsunifyError as problem:
        return await _people_page(visit, problem.status, problem=to_problem_details(problem))
    return visit.redirect("/people")


async def remove_member(visit: PageRequest) -> web.Response:
    """Remove a member from the workspace."""
    visit.require_confirmed()
    try:
        await sessions.remove_from_workspace(visit.service, visit.signed_in_session, visit.form.get("email", ""))
    except AdsunifyError as problem:
        return await _people_page(visit, problem.status, problem=to_problem_details(problem))
    return visit.redirect("/people")


async def _people_page(visit: PageRequest, status: int = 200, **more: object) -> web.Response:
    members = await sessions.list_members(visit.service, visit.actor)
    return visit.render_page(
        "people.html", status, **{"people": members, "link": None, "email": "", "problem": None, **more}
    )


async def show_invitation(visit: PageRequest) -> web.Response:
    """Show an invitation and the form to join with."""
    return visit.render_page("invitation.html", **await _invitation_values(visit), problem=None)


async def accept_invitation(visit: PageRequest) -> web.Response:
    """Join the workspace and begin a session in it."""
    try:
        token = await sessions.accept_invitation(
            visit.service,
            visit.sign_in_throttle,
            visit.path_parameter("token"),
            visit.form.get("password", ""),
            visit.client_ip,
            visit.user_session,
        )
    except AdsunifyError as problem:
        if problem.status == 404:
            raise
        return visit.render_problem(
            problem, "invitation.html", **await _invitation_values(visit), problem=problem.message
        )
    if visit.user_session is not None:
        await sessions.sign_out(visit.service, visit.user_session)
    return visit.begin_session(token, "/operations")


async def _invitation_values(visit: PageRequest) -> dict[str, Any]:
    invitation = await sessions.read_invitation(visit.service, visit.path_parameter("token"))
    return {
        "invitation": invitation,
        "here": visit.user_session is not None and visit.user_session.email == invitation.email,
    }
