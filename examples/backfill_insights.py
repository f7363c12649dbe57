"""Read the daily figures of many accounts over a long time into a SQLite file, several accounts at once.

The time is cut into months. A month whose figures are complete and final is not read again, so the script can be
stopped and started at any time, and a daily run reads only what is new. Amounts are stored as text, which is exact.

Needs: connected accounts.
Prints: the progress, and what a network refused. The exit code is 1 if a month could not be read.
"""

import argparse
import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

from adsunify import Account, AsyncAds, ProviderError
from adsunify.answers import Insights

SCHEMA = """
CREATE TABLE IF NOT EXISTS figures
    (account, day, currency, impressions, clicks, spend, conversions, UNIQUE (account, day));
CREATE TABLE IF NOT EXISTS final (account, start, "end");
"""


def list_months(start: date, end: date) -> Iterator[tuple[date, date]]:
    """List the months from ``start`` to ``end``, each with its first and its last day."""
    while start <= end:
        next_month = (start.replace(day=1) + timedelta(days=32)).replace(day=1)
        yield start, min(end, next_month - timedelta(days=1))
        start = next_month


def save_report(database: sqlite3.Connection, account: Account, start: date, end: date, report: Insights) -> None:
    """Save the figures of a month, and that they are final if they are."""
    with database:
        for day in report.rows:
            spend, conversions = (None if value is None else str(value) for value in (day.spend, day.conversions))
            row = (account.account_id, str(day.date), report.currency, day.impressions, day.clicks, spend, conversions)
            database.execute("INSERT OR REPLACE INTO figures VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        if report.coverage.complete and report.coverage.provisional_from is None:
            database.execute("INSERT INTO final VALUES (?, ?, ?)", (account.account_id, str(start), str(end)))


async def read_month(
    client: AsyncAds, database: sqlite3.Connection, slots: asyncio.Semaphore, account: Account, start: date, end: date
) -> tuple[bool, str]:
    """Read and save a month. Returns whether it could be read, and what to print."""
    subject = f"{account.network} {account.native_id} {start} to {end}"
    try:
        async with slots:
            report = await client.insights.daily(account, start, end)
    except ProviderError as error:
        return False, f"{subject}: {error}"
    save_report(database, account, start, end, report)
    return True, f"{subject}: {len(report.rows)} days"


async def main(client: AsyncAds, path: Path, start: date, end: date, parallel: int = 4) -> int:
    """Open the client and read all months, ``parallel`` at once. Returns how many could not be read."""
    async with client:
        with closing(sqlite3.connect(path)) as database:
            database.executescript(SCHEMA)
            final = set(database.execute('SELECT account, start, "end" FROM final'))
            jobs = [
                (account, first, last)
                for account in await client.accounts.list().all()
                for first, last in list_months(start, end)
                if account.status != "disconnected" and (account.account_id, str(first), str(last)) not in final
            ]
            slots, failures = asyncio.Semaphore(parallel), 0
            reads = [read_month(client, database, slots, *job) for job in jobs]
            for number, read in enumerate(asyncio.as_completed(reads), start=1):
                is_read, text = await read
                failures += not is_read
                print(f"[{number}/{len(jobs)}] {text}", flush=True)
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path, help="the SQLite file")
    parser.add_argument("start", type=date.fromisoformat, help="the first day")
    parser.add_argument("--end", type=date.fromisoformat, default=date.today() - timedelta(days=1), help="the last day")
    options = parser.parse_args()
    raise SystemExit(asyncio.run(main(AsyncAds.from_environment(), options.database, options.start, options.end)) > 0)
