"""What has to be read before a TikTok plan is frozen, in this order: the video, the sender, the cover, the places."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen

from adsunify.brief import CampaignBrief
from adsunify.errors import ProviderThrottled, refused
from adsunify.network import Account
from adsunify.reading import ask, pages
from adsunify.wire import Flow, Json, Request, Response, identifier, read, text

from . import native as tiktok
from .tables import NETWORK, covers, regions
from .targeting import resolved

VIDEO, IDENTITY = "creative.existingId", "platform.identityId"


@frozen
class Found:
    """What the plan holds of it: the business centre of a BC_AUTH_TT identity, the cover's id, the location ids."""

    centre: str | None
    cover: str | None
    locations: list[str] | None


def found_for(account: Account, brief: CampaignBrief) -> Flow[Found]:
    """All look-ups of a brief. Raises InvalidInput for what TikTok has not or does not permit."""
    content, targeting = brief.creative, brief.targeting
    video = content.existing_id or ""
    yield from usable(account, video)
    centre = yield from sender(account, brief.platform.identity_id or "", brief.platform.identity_type or "")
    cover = content.image_hash
    if cover is None and content.image_url is None:
        cover = yield from suggested(account, video)
    locations = None
    if targeting.native is None:
        extent = "ALL" if targeting.location_ids else "TO_COUNTRY"
        answer = yield from ask(NETWORK, regions(account, extent))
        locations = resolved(brief, tiktok.listed(answer, "region_info"))
    return Found(centre, cover, locations)


# -- video and cover ----------------------------------------------------------------------------------------------


def usable(account: Account, video_id: str, path: str = VIDEO) -> Flow[None]:
    """Whether the video can be an ad on TikTok. Raises ProviderThrottled while it is still being processed."""
    answer = yield from ask(NETWORK, tiktok.asked(account, "/file/video/ad/info/", video_ids=[video_id]))
    found = tiktok.listed(answer)
    if not found:  # API for Business: an id that is unknown or of no use is left out without a word
        raise refused(path, "not_found", "TikTok has no such video for ads in this account.")
    if read(found[0], "/displayable") is not True:
        message = "TikTok is still processing the video; it can be used once it is displayable."
        raise ProviderThrottled(message, code="media_processing", retry_after=tiktok.PROCESSING_WAIT)
    allowed = read(found[0], "/allowed_placements")
    if isinstance(allowed, list) and allowed and tiktok.ON_TIKTOK not in allowed:
        raise refused(path, "not_eligible", "The video may not be placed on TikTok itself.")


def suggested(account: Account, video_id: str, path: str = "creative.imageHash") -> Flow[str]:
    """The first cover that TikTok suggests; that its id may be used as it is, is (unverified)."""
    answer = yield from ask(NETWORK, covers(account, video_id, 1))
    for row in tiktok.listed(answer):
        found = identifier(read(row, "/id"))
        if found is not None:
            return found
    raise refused(path, "required", "TikTok suggests no cover for the video; name one as imageHash or imageUrl.")


# -- identity -----------------------------------------------------------------------------------------------------


def _following(request: Request, response: Response) -> Request | None:
    page = tiktok.next_page(response)
    return None if page is None else evolve(request, query={**request.query, "page": str(page)})


def _match(account: Account, identity_id: str, kind: str, **query: str) -> Flow[Mapping[str, Json] | None]:
    asked = tiktok.asked(account, "/identity/get/", **query, page="1", page_size=str(tiktok.IDENTITY_PAGE))
    answers = yield from pages(NETWORK, asked, _following)
    for answer in answers:
        for row in tiktok.listed(answer, "identity_list"):
            if text(row, "/identity_id") == identity_id and text(row, "/identity_type", kind) == kind:
                return row
    return None


def sender(account: Account, identity_id: str, kind: str) -> Flow[str | None]:
    """Whether the identity may send ads; for one of a business centre, which centre that is."""
    centre = None
    if kind == tiktok.CENTRE_USER:
        # API for Business: with this type the call needs the centre, so it is asked without a type first.
        found = yield from _match(account, identity_id, kind)
        centre = text(found, "/identity_authorized_bc_id")
        if centre is None:
            found, centre = yield from _in_centres(account, identity_id)
    else:
        found = yield from _match(account, identity_id, kind, identity_type=kind)
    if found is None:
        raise refused(IDENTITY, "not_found", f"The account has no identity of the type {kind} with this id.")
    if kind in tiktok.TIKTOK_ACCOUNTS:
        state = text(found, "/available_status") or tiktok.AVAILABLE
        if state != tiktok.AVAILABLE:
            raise refused(IDENTITY, "not_eligible", f"TikTok says that the identity is not available: {state[:60]}.")
        if read(found, "/can_push_video") is False:
            raise refused(IDENTITY, "not_eligible", "The identity does not let ads push videos.")
        if read(found, "/is_gpppa") is True:
            raise refused(IDENTITY, "not_eligible", "The identity is of a government, politician or party.")
    return centre


def _in_centres(account: Account, identity_id: str) -> Flow[tuple[Mapping[str, Json] | None, str | None]]:
    """The identity in one of the business centres that the token reaches."""
    query = {"page": "1", "page_size": str(tiktok.CENTRE_PAGE)}
    answers = yield from pages(NETWORK, Request("GET", f"{tiktok.BASE}/bc/get/", query=query), _following)
    for row in (row for answer in answers for row in tiktok.listed(answer)):
        centre = identifier(read(row, "/bc_info/bc_id"))  # (unverified)
        if centre is None:
            continue
        kind = tiktok.CENTRE_USER
        found = yield from _match(account, identity_id, kind, identity_type=kind, identity_authorized_bc_id=centre)
        if found is not None:
            return found, text(found, "/identity_authorized_bc_id") or centre
    return None, None
