"""Verifies the ledger of a workspace: seals its rows, and checks the chain from its first row to its last."""

from __future__ import annotations

from attrs import frozen

from adsunify.ledger import ChainLink
from adsunify.store import Store
from adsunify.store.ledger_chain import (
    ChainProblem,
    check_rows,
    count_unsealed,
    find_row_beyond_head,
    get_head,
)
from adsunify.values.exact_json import Json

from .sealing import seal_workspace

PAGE_SIZE = 1_000
"""How many rows are read at once."""


@frozen
class Verification:
    """The result of a verification.

    Attributes:
        checked: the last correct row. If there is no problem, it is the head of the chain. A copy of it outside the
            database can be passed to a later verification.
        sealed: how many rows this verification has sealed.
        unsealed: how many rows were inserted during this verification, so that they are not in the chain yet.
        problem: the first row that was changed or is missing; None if the chain is intact.
    """

    checked: ChainLink
    sealed: int
    unsealed: int
    problem: ChainProblem | None

    def to_json(self) -> dict[str, Json]:
        """Return the result as the command line prints it."""
        problem = self.problem
        return {
            "isIntact": problem is None,
            "rows": self.checked.seq,
            "chainHash": self.checked.chain_hash,
            "sealed": self.sealed,
            "unsealed": self.unsealed,
            "problem": None
            if problem is None
            else {"seq": problem.seq, "id": problem.row_id, "reason": problem.reason},
        }


async def verify_ledger(store: Store, workspace_id: str, known: ChainLink | None = None) -> Verification:
    """Verify the ledger of a workspace.

    Args:
        store: the store.
        workspace_id: the workspace.
        known: a row of the chain as an earlier verification printed it. The chain must still contain it.

    Raises:
        StoreError: the database failed.
    """
    beyond = await store.read(find_row_beyond_head, workspace_id)  # nothing can be sealed in this case
    sealed = 0 if beyond is not None else await seal_workspace(store, workspace_id)
    place, problem = await _check_chain(store, workspace_id, await store.read(get_head, workspace_id), known)
    return Verification(place, sealed, await store.read(count_unsealed, workspace_id), problem or beyond)


async def _check_chain(
    store: Store, workspace_id: str, head: ChainLink, known: ChainLink | None
) -> tuple[ChainLink, ChainProblem | None]:
    """Return the last correct row, and the first fault."""
    place = ChainLink()
    while True:
        is_before = known is not None and place.seq < known.seq
        limit = min(PAGE_SIZE, known.seq - place.seq) if known is not None and is_before else PAGE_SIZE
        place, problem = await store.read(check_rows, workspace_id, place, head, limit)
        if problem is None and known is not None and place.seq == known.seq and place != known:
            problem = ChainProblem(known.seq, None, "The chain has another hash here than the one that you know.")
        if problem is None and place.seq == head.seq and known is not None and head.seq < known.seq:
            problem = ChainProblem(head.seq + 1, None, f"The row is missing. The chain had {known.seq} rows before.")
        if problem is not None or place.seq == head.seq:
            return place, problem
