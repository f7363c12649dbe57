"""``python -m tests.cases DIR``: every case below a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from .cases import BadCase, Library, read_cases
from .running import check
from .twice import unequal

USAGE = "python -m tests.cases DIR    runs every case below DIR: DIR/<network>/{exemplary,supplemental}/*.json"


def main(arguments: list[str]) -> int:
    """Run a folder; 0 where all passed, 1 where not, 2 for a call that names no folder."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(USAGE, file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    cases = list(read_cases(folder))
    library, passed, failed = Library.of(cases), 0, 0
    unequal_ids = set(unequal(folder))
    for case in cases:
        place = case.path.relative_to(folder)
        if isinstance(case, BadCase):
            print(f"FAILED {place}: {case.reason}")
            failed += 1
            continue
        report = check(case, library)
        failures = [str(failure) for failure in report.failures]
        if case.id in unequal_ids:
            failures.append("/plan: expected the same bytes in every process, found others under another hash seed")
        for note in report.notes:
            print(f"note {place} ({case.name}): {note}")
        for failure in failures:
            print(f"FAILED {place} ({case.name}): {failure}")
        passed, failed = (passed, failed + 1) if failures else (passed + 1, failed)
    if not cases:
        print("there is no case", file=sys.stderr)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
