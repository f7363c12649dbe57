"""Write the daily figures of all connected accounts to a CSV or Parquet file, as a nightly job does.

Networks correct the figures of the last days, so the job reads several days again every night. ``provisional`` marks
the days that may still change. A figure that a network does not report is empty, not 0.

Needs: connected accounts; for a file that ends in ``.parquet`` also the package pyarrow.
Prints: the number of rows, and each account that could not be read. The file replaces the file of the night before
only when it is complete. The exit code is 1 if an account is missing in it.
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from adsunify import Account, Ads, ProviderError

FIGURES = ("impressions", "clicks", "spend", "conversions", "conversion_value")
HEADS = ("date", "network", "account", "currency", *FIGURES, "provisional")
AMOUNTS = ("spend", "conversions", "conversion_value")
Row = tuple[date | str | int | Decimal | bool | None, ...]


def read_rows(client: Ads, account: Account, start: date, end: date) -> Iterator[Row]:
    """Read the figures of an account, one row per day."""
    report = client.insights.daily(account, start, end)
    provisional_from = report.coverage.provisional_from
    for day in report.rows:
        is_provisional = provisional_from is not None and day.date >= provisional_from
        figures = (getattr(day, name) for name in FIGURES)
        yield (day.date, account.network, account.native_id, report.currency, *figures, is_provisional)


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write a CSV file. Amounts are exact decimal numbers."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADS)
        writer.writerows(rows)


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    """Write a Parquet file. Amounts have the type decimal128, never a float."""
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    types = {"date": pyarrow.date32(), "impressions": pyarrow.int64(), "clicks": pyarrow.int64()}
    types |= {name: pyarrow.decimal128(38, 9) for name in AMOUNTS} | {"provisional": pyarrow.bool_()}
    schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in HEADS])
    columns = [pyarrow.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
    parquet.write_table(pyarrow.Table.from_arrays(columns, schema=schema), path)


def main(client: Ads, output: Path, start: date, end: date) -> int:
    """Write the report. Returns the number of accounts that could not be read."""
    rows: list[Row] = []
    failures = 0
    for account in client.accounts.list():
        if account.status == "disconnected":
            continue
        try:
            rows.extend(read_rows(client, account, start, end))
        except ProviderError as error:
            failures += 1
            print(f"{account.network} {account.native_id}: {error}", file=sys.stderr)
    unfinished = output.with_name(f"{output.name}.unfinished")
    (write_parquet if output.suffix == ".parquet" else write_csv)(unfinished, rows)
    unfinished.replace(output)
    print(f"{len(rows)} rows in {output}")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="the file: report.csv or report.parquet")
    parser.add_argument("--end", type=date.fromisoformat, default=date.today() - timedelta(days=1), help="the last day")
    parser.add_argument("--days", type=int, default=30, help="how many days the report has")
    options = parser.parse_args()
    if options.output.suffix == ".parquet" and find_spec("pyarrow") is None:
        parser.error("A Parquet file needs the package pyarrow: pip install pyarrow")
    with Ads.from_environment() as ads:
        failed = main(ads, options.output, options.end - timedelta(days=options.days - 1), options.end)
    raise SystemExit(failed > 0)
