"""The call that enables, disables and deletes."""

from adsunify.sandbox.checks import array, boolean, one_of, record
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok.answers import PARTIAL_SUCCESS, build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.entities import get_id_name, require_entity
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER_CHECK, ID_CHECK, TEXT_CHECK
from adsunify.sandbox.parsing import InvalidRequest


def update_status(request: Request, *, kind: str, smart: bool) -> Response:
    """POST /{kind}/status/update/ and /smart_plus/{kind}/status/update/.

    All or none, unless partial success is allowed (ad groups of the manual flow only). With the fault `partial` the
    last one fails: an ad group in `error_list`, any other with code 20001.
    """
    name = get_id_name(kind, smart)
    shape = record(
        {
            "advertiser_id": ADVERTISER_CHECK,
            f"{name}s": array(ID_CHECK, 1, 20),
            "operation_status": one_of("ENABLE DISABLE DELETE"),
        },
        {
            **({"postback_window_mode": TEXT_CHECK} if kind == "campaign" else {}),
            **({"allow_partial_success": boolean} if (kind, smart) == ("adgroup", False) else {}),
        },
    )
    request.parse_query()
    body = request.parse_json(shape)
    account = require_account_by_id(request, body["advertiser_id"])
    is_partial, lenient = request.get_fault("partial") is not None, body.get("allow_partial_success", False)
    ids, status, changed, failed = body[f"{name}s"], body["operation_status"], [], []
    for position, entity_id in enumerate(ids):
        try:
            if is_partial and position == len(ids) - 1:
                raise InvalidRequest("value", f"/{name}s/{position}", "the status could not be changed")
            entity = require_entity(request, account, kind, entity_id, smart, f"/{name}s/{position}")
        except InvalidRequest as problem:
            if not is_partial and not lenient:
                raise
            failed.append({name: entity_id, "error_message": problem.message})
            continue
        request.world.replace(entity, {**entity.data, "operation_status": status})
        changed.append(entity_id)
    data = {f"{name}s": changed, "status": status}
    if kind == "campaign":
        data["campaign_list"] = [{"campaign_id": entity_id, "status": status} for entity_id in changed]
    if kind == "adgroup":
        return build_response({**data, "error_list": failed})
    return build_response(data, PARTIAL_SUCCESS, "Partial success") if failed else build_response(data)
