"""The job of a worker that evaluates alerts on synced figures. It records each breach as ``rule.triggered``."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

from attrs import define, evolve, frozen
from sqlalchemy import Connection

from adsunify.adapter import flows
from adsunify.adapter.hierarchy import ListQuery, ParsedEntity
from adsunify.adapter.network import get_level
from adsunify.alerts import evaluation as rules
from adsunify.alerts.rules import Alert, AlertEvaluation, Gap, find_unsupported_reason, make_entity_gap, make_unknown
from adsunify.alerts.windows import (
    DayFigures,
    DayWindow,
    FigureState,
    WindowSums,
    read_impressions,
    read_spend,
)
from adsunify.errors import AdsunifyError, ProviderNotFound, StoreError
from adsunify.execution.status_updates import read_entity_statuses
from adsunify.models.alert import MAX_ENTITIES
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.store import alerts, connections, entities, kept_figures
from adsunify.store.alerts import EvaluationRecord
from adsunify.store.connections import AccountRecord
from adsunify.store.kept_figures import FigureSubject
from adsunify.values.dates import get_timezone

from .core import Service, format_timestamp
from .entities import read_entity_with_parent
from .network_session import NetworkSession
from .reporting.keeping import READS_PER_NETWORK, list_levels

CHECK_SECONDS = 60.0
"""The wait between two searches for synced figures that alerts were not evaluated on."""
RETRY_MILLISECONDS = 15 * 60 * 1000
"""How long an evaluation waits after a read of the network has failed."""
ROWS_PER_READ = 5_000
ENTITIES_PER_PAGE = 100
MAX_READ_PAGES = 100
"""The maximum number of pages of entities that one evaluation reads from the network."""
MAX_SUSPECTS = 100
"""The maximum number of entities without delivery that one evaluation reads from the network."""
MISSING_REASON = "{count} entities are not in the account."
MORE_ENTITIES_REASON = "The level has more entities than one evaluation reads. Name entities in the scope."
INACTIVE_REASON = "{count} entities were not active when adsunify last read their status."
SUSPECTS_REASON = "{count} more entities have no impression; the network was not asked whether they are active."
_LOGGER = logging.getLogger("adsunify.worker")


@frozen
class DueEvaluation:
    """An alert and an account with new figures. ``read_at``: when these figures were synced."""

    alert: Alert
    account: AccountRecord
    read_at: int


@define(eq=False)
class AlertJob:
    """Evaluates each active alert for each account after each sync of it.

    Any number of workers may run it on one database. An evaluation is repeated if its result was not saved.
    """

    service: Service

    async def run(self) -> None:
        """Evaluate until the task is cancelled. If the database does not answer, try again later."""
        while True:
            try:
                await self.evaluate_due()
            except StoreError as problem:
                _LOGGER.warning("alerts were not evaluated: %s", problem.message)
            await asyncio.sleep(CHECK_SECONDS)

    async def evaluate_due(self) -> None:
        """Evaluate the alerts that are due."""
        store = self.service.store
        due_evaluations = await store.read(list_due_evaluations, store.clock.now())
        slots: defaultdict[str, asyncio.Semaphore] = defaultdict(partial(asyncio.Semaphore, READS_PER_NETWORK))
        async with asyncio.TaskGroup() as group:  # a slow network delays no other
            for due in due_evaluations:
                group.create_task(self._evaluate(due, slots[due.account.network]))

    async def _evaluate(self, due: DueEvaluation, slot: asyncio.Semaphore) -> None:
        members = {"accountId": due.account.id, "alertId": due.alert.id}
        async with slot:
            try:
                reported = await evaluate_alert(self.service, due)
            except AdsunifyError as problem:
                _LOGGER.warning("an alert was not evaluated: %s", problem.message, extra={"members": members})
                return
        if reported:
            _LOGGER.info("alert: %s", due.alert.kind, extra={"members": {**members, "breaches": reported}})


def list_due_evaluations(connection: Connection, now: int) -> list[DueEvaluation]:
    """Return the active alerts with the accounts that were synced since their last evaluation."""
    active = alerts.list_active_alerts(connection)
    if not active:
        return []
    evaluations = {
        (evaluation.alert_id, evaluation.account_id): evaluation for evaluation in alerts.list_evaluations(connection)
    }
    accounts = [
        connected for connected in connections.list_all_accounts(connection) if connected.status != "disconnected"
    ]
    read_times: dict[FigureSubject, int | None] = {}
    due = []
    for alert in active:
        for account in accounts:
            is_watched = alert.scope.accounts.has_account(account.id, account.network)
            if account.workspace_id != alert.workspace_id or not is_watched:
                continue
            times = []
            for level in _list_trigger_levels(alert, account):
                subject = FigureSubject(account.id, level)
                if subject not in read_times:
                    read_times[subject] = kept_figures.find_last_read(connection, subject)
                times.append(read_times[subject] or 0)
            read_at = max(times)
            if read_at and _is_due(alert, evaluations.get((alert.id, account.id)), read_at, now):
                due.append(DueEvaluation(alert, account, read_at))
    return due


def _list_trigger_levels(alert: Alert, account: AccountRecord) -> Sequence[str]:
    """Return the levels whose sync causes an evaluation. These are all levels if the alert needs no figures."""
    levels = list_levels(account)
    return [alert.level] if alert.kind != "disapproved" and alert.level in levels else levels


def _is_due(alert: Alert, last: EvaluationRecord | None, read_at: int, now: int) -> bool:
    if last is None or last.version != alert.version or last.read_at < read_at:
        return True
    return last.retry_at is not None and last.retry_at <= now


async def evaluate_alert(service: Service, due: DueEvaluation) -> int | None:
    """Evaluate an alert for an account, and save the result with its events.

    Returns:
        The number of events; None if the result was outdated and not saved.
    """
    evaluator = _Evaluator(service, due)
    retry_at = None
    try:
        evaluation = await evaluator.evaluate()
    except StoreError:
        raise
    except AdsunifyError as problem:
        evaluation = make_unknown(f"The entities could not be read: {problem.message}")
        retry_at = service.store.clock.now() + RETRY_MILLISECONDS
    record = EvaluationRecord(
        alert_id=due.alert.id,
        account_id=due.account.id,
        version=due.alert.version,
        read_at=due.read_at,
        evaluated_at=service.store.clock.now(),
        retry_at=retry_at,
        gaps=[gap.to_json() for gap in evaluation.gaps],
    )
    today, as_of = evaluator.state.today.isoformat(), format_timestamp(due.read_at)
    return await service.store.write(alerts.save_evaluation, due.alert, due.account, evaluation, today, record, as_of)


class _Evaluator:
    """Reads what one evaluation needs: stored figures, known statuses, and entities of the network."""

    def __init__(self, service: Service, due: DueEvaluation) -> None:
        self.store = service.store
        self.service = service
        self.alert = due.alert
        self.account = due.account
        self.session = NetworkSession(service, due.account)
        self.has_more_entities = False
        self.timezone = get_timezone(due.account.timezone or "UTC")
        read_at = datetime.fromtimestamp(due.read_at / 1000, UTC)
        self.state = FigureState(read_at, self._to_day(due.read_at))

    def _to_day(self, at: int) -> date:
        return datetime.fromtimestamp(at / 1000, self.timezone).date()

    async def evaluate(self) -> AlertEvaluation:
        """Evaluate. Raises the errors of the network."""
        alert, account = self.alert, self.account
        reason = find_unsupported_reason(get_adapter(account.network).network, alert.kind, alert.level)
        if reason is not None:
            return make_unknown(reason)
        if alert.currency is not None and account.currency != alert.currency:
            return make_unknown(
                f"The currency of the account is {account.currency or 'not known'}, that of the alert {alert.currency}."
            )
        if alert.kind == "spendAbove":
            return await self._evaluate_spend()
        (kind,) = (entity_kind for entity_kind in ENTITY_KINDS if entity_kind == alert.level)
        if alert.kind == "noDeliveryFor":
            return await self._evaluate_delivery(kind)
        network = self.session.adapter.network
        parsed = await self._read_entities(kind, alert.scope.entity_ids or None)
        if alert.kind == "disapproved":
            evaluation = rules.evaluate_reviews(network, alert, parsed, self.state.today)
        else:
            evaluation = await self._evaluate_pace(kind, parsed)
        missing = make_entity_gap(MISSING_REASON, {*alert.scope.entity_ids}.difference(entity.id for entity in parsed))
        if self.has_more_entities:
            missing.append(Gap(MORE_ENTITIES_REASON))
        gaps = (*missing, *evaluation.gaps)
        return evolve(evaluation, gaps=gaps, is_complete=evaluation.is_complete and not self.has_more_entities)

    async def _evaluate_pace(self, kind: Kind, parsed: Sequence[ParsedEntity]) -> AlertEvaluation:
        network = self.session.adapter.network
        paced = rules.read_paced_budgets(network, self.session.native_account, kind, parsed, self.state)
        windows: dict[str, list[DayWindow]] = {}
        for budget in paced.budgets:
            windows.setdefault(budget.entity_id, []).append(budget.window)
        sums = await self._add_up(windows, read_spend)
        return rules.evaluate_pace(self.alert, paced, sums, self.state)

    async def _evaluate_spend(self) -> AlertEvaluation:
        windows = rules.list_spend_windows(self.alert, self.state.today, self._to_day(self.alert.begun_at))
        sums = WindowSums(lambda _: windows, read_spend)
        await self._add_rows(sums, windows[-1].first, self.alert.scope.entity_ids)
        return rules.evaluate_spend(self.alert, sums, windows, self.state)

    async def _evaluate_delivery(self, kind: Kind) -> AlertEvaluation:
        activations = await self.store.read(entities.list_activations, self.account.id, kind)
        chosen = self.alert.scope.entity_ids
        times = {id_: at for id_, at in activations.items() if not chosen or id_ in chosen}
        timed = {
            id_: rules.Activation(datetime.fromtimestamp(at / 1000, UTC), self._to_day(at))
            for id_, at in times.items()
            if at is not None
        }
        watched = rules.list_watched(timed, self.alert, self.state)
        sums = await self._add_up({id_: [window] for id_, (_, window) in watched.items()}, read_impressions)
        untimed = [id_ for id_, at in times.items() if at is None]
        evaluation = rules.evaluate_delivery(self.alert, watched, untimed, sums, self.state)
        inactive = make_entity_gap(INACTIVE_REASON, (id_ for id_ in chosen if id_ not in activations))
        return await self._confirm_breaches(kind, evolve(evaluation, gaps=(*evaluation.gaps, *inactive)))

    async def _confirm_breaches(self, kind: Kind, evaluation: AlertEvaluation) -> AlertEvaluation:
        """Read the entities without delivery from the network. Drop the breaches of entities that could not deliver."""
        suspects = sorted({entity_id for entity_id, _ in evaluation.breaches})
        if not suspects:
            return evaluation
        known: dict[tuple[str, str], ParsedEntity] = {}
        lineages = {id_: await self._read_lineage(kind, id_, known) for id_ in suspects[:MAX_SUSPECTS]}
        await self._record_statuses(known.values())
        times: dict[tuple[str, str], datetime] = {
            (activated_kind, id_): datetime.fromtimestamp(at / 1000, UTC)
            for activated_kind in ENTITY_KINDS
            for id_, at in (await self.store.read(entities.list_activations, self.account.id, activated_kind)).items()
            if at is not None
        }
        confirmed = rules.confirm_breaches(self.alert, evaluation, lineages, times, self.state)
        rest = suspects[MAX_SUSPECTS:]
        return evolve(
            confirmed,
            unknown_entities=confirmed.unknown_entities.union(rest),
            gaps=(*confirmed.gaps, *make_entity_gap(SUSPECTS_REASON, rest)),
        )

    async def _read_lineage(
        self, kind: str, entity_id: str | None, known: dict[tuple[str, str], ParsedEntity]
    ) -> list[ParsedEntity]:
        """Read an entity and its ancestors; return nothing if one was deleted.

        ``known`` caches the entities that were read.
        """
        lineage: list[ParsedEntity] = []
        while kind and entity_id is not None:
            if (kind, entity_id) not in known:
                try:
                    flow = flows.memoize_reads(read_entity_with_parent(self.session, kind, entity_id))
                    known[kind, entity_id] = await self.session.run_flow(flow)
                except ProviderNotFound:
                    return []
            lineage.append(known[kind, entity_id])
            kind, entity_id = get_level(self.session.adapter.network, kind).parent_kind, lineage[-1].parent_id
        return lineage

    async def _add_up(
        self, windows: dict[str, list[DayWindow]], read_value: Callable[[DayFigures], Decimal | None]
    ) -> WindowSums:
        """Add up the figures of some entities, each over its windows."""
        sums = WindowSums(lambda entity_id: windows.get(entity_id, ()), read_value)
        if windows:
            await self._add_rows(
                sums, min(window.first for entity_windows in windows.values() for window in entity_windows), [*windows]
            )
        return sums

    async def _add_rows(self, sums: WindowSums, first: date, entity_ids: Sequence[str]) -> None:
        """Add the stored rows from a day on, and note the incomplete days.

        Without ids, add the rows of all entities.
        """
        subject = FigureSubject(self.account.id, self.alert.level)
        days = first.isoformat(), self.state.today.isoformat()
        known = await self.store.read(kept_figures.find_read_days, subject, days, self.store.clock.now())
        incomplete = [days] if known is None else [*known.unread, *known.missing]
        ranges = (DayWindow(date.fromisoformat(start), date.fromisoformat(end)) for start, end in incomplete)
        self.state = evolve(self.state, incomplete_days=frozenset().union(*(window.days for window in ranges)))
        after = ("", "")
        while known is not None:
            rows = await self.store.read(
                kept_figures.list_known_rows, subject, days, known.number, ROWS_PER_READ, after, entity_ids
            )
            sums.add_rows(rows)
            if len(rows) < ROWS_PER_READ:
                return
            after = rows[-1].date, rows[-1].entity_id

    async def _read_entities(self, kind: Kind, entity_ids: Sequence[str] | None) -> list[ParsedEntity]:
        """Read entities from the network, those with these ids or all, and record their statuses.

        Raises the errors of the network.
        """
        if entity_ids is not None and len(entity_ids) <= MAX_ENTITIES:
            parsed = await self._read_some(kind, entity_ids)
        else:
            parsed = await self._read_all(kind)
        await self._record_statuses(parsed)
        return parsed

    async def _record_statuses(self, parsed: Iterable[ParsedEntity]) -> None:
        statuses, clock = read_entity_statuses(parsed), self.store.clock
        await self.store.write(entities.record_statuses, self.account.id, statuses, clock.now())

    async def _read_some(self, kind: Kind, entity_ids: Sequence[str]) -> list[ParsedEntity]:
        fetch_entity = self.session.adapter.reads.fetch_entity
        parsed = []
        for entity_id in entity_ids:
            try:
                parsed.append(await self.session.run_flow(fetch_entity(self.session.native_account, kind, entity_id)))
            except ProviderNotFound:
                continue  # the entity was deleted
        return parsed

    async def _read_all(self, kind: Kind) -> list[ParsedEntity]:
        list_entities = self.session.adapter.reads.list_entities
        query = ListQuery(ENTITIES_PER_PAGE)
        parsed: list[ParsedEntity] = []
        for _ in range(MAX_READ_PAGES):
            page = await self.session.run_flow(list_entities(self.session.native_account, kind, query))
            parsed += page.entities
            if page.cursor is None:
                return parsed
            query = evolve(query, cursor=page.cursor)
        self.has_more_entities = True
        return parsed
