"""The one way to enable, disable and delete."""

from adsunify.sandbox.framework import Answer, Problem, Request, boolean, listing, record
from adsunify.sandbox.networks.tiktok.answers import PARTIAL_SUCCESS, account_of, answer
from adsunify.sandbox.networks.tiktok.entities import found, id_name
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER, ID, TEXT, one_of


def update_status(request: Request, *, kind: str, smart: bool) -> Answer:
    """POST /{kind}/status/update/ and /smart_plus/{kind}/status/update/: all or none, unless partial success is
    allowed (ad groups of the manual flow only).

    Told `partial`, the last one fails: an ad group in `error_list`, any other with code 20001.
    """
    name = id_name(kind, smart)
    shape = record(
        {
            "advertiser_id": ADVERTISER,
            f"{name}s": listing(ID, 1, 20),
            "operation_status": one_of("ENABLE DISABLE DELETE"),
        },
        {
            **({"postback_window_mode": TEXT} if kind == "campaign" else {}),
            **({"allow_partial_success": boolean} if (kind, smart) == ("adgroup", False) else {}),
        },
    )
    request.query()
    given = request.json(shape)
    account = account_of(request, given["advertiser_id"])
    told, lenient = request.told("partial") is not None, given.get("allow_partial_success", False)
    ids, status, done, failed = given[f"{name}s"], given["operation_status"], [], []
    for position, one in enumerate(ids):
        try:
            if told and position == len(ids) - 1:
                raise Problem("value", f"/{name}s/{position}", "the status could not be changed")
            entity = found(request, account, kind, one, smart, f"/{name}s/{position}")
        except Problem as problem:
            if not told and not lenient:
                raise
            failed.append({name: one, "error_message": problem.message})
            continue
        request.world.put(entity, {**entity.data, "operation_status": status})
        done.append(one)
    data = {f"{name}s": done, "status": status}
    if kind == "campaign":
        data["campaign_list"] = [{"campaign_id": one, "status": status} for one in done]
    if kind == "adgroup":
        return answer({**data, "error_list": failed})
    return answer(data, PARTIAL_SUCCESS, "Partial success") if failed else answer(data)
