"""``python -m adsunify.testing.contract FOLDER`` runs every case below a folder."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path

from adsunify.errors import InvalidInput
from adsunify.networks.registry import discover_packages, find_built_in_packages, get_adapter

from .cases import Case, InvalidFile, Library, read_cases
from .checks import check_case
from .determinism import find_unequal_plans
from .matching import Difference

DESCRIPTION = """\
Run the JSON cases of networks against their adapters.

FOLDER/<network>/{exemplary,supplemental}/*.json are the cases; the inner folders
may be missing, and FOLDER may itself be the folder of one network. Folders named
briefs, conversation and exposure are left out. The documentation of
adsunify.testing.contract describes the form of a case.
"""
EPILOG = """\
output:
  FAILED FILE (CASE): PLACE: expected VALUE, found VALUE   one line per failure
  note FILE (CASE): ...                                    a difference that fails nothing
  N passed, N failed                                       the last line

exit status:
  0  all cases passed
  1  a case failed, a file is not a case, or there is no case
  2  wrong arguments, or an adapter cannot be loaded; nothing ran

environment:
  ADSUNIFY_ADAPTERS  codes of the networks whose adapters come from other packages,
                     separated by commas
"""
OTHER_BYTES = Difference("/plan", "the same bytes in every process", "others under another hash seed")


def make_parser() -> ArgumentParser:
    """Return the parser of the arguments."""
    parser = ArgumentParser(
        prog="python -m adsunify.testing.contract",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the folder of cases")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="compare the order of requests and lists, step keys and the reasons of refusals as well",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases of a folder and return the exit status. Raises SystemExit for wrong arguments."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    if not folder.is_dir():
        problem = "is a file; name the folder that contains it" if folder.exists() else "does not exist"
        parser.error(f"{folder} {problem}.")
    try:
        for code in discover_packages().keys() - find_built_in_packages().keys():
            get_adapter(code)
    except InvalidInput as problem:
        parser.error(str(problem))
    return run_folder(folder.resolve(), strict=options.strict)


def run_folder(folder: Path, *, strict: bool) -> int:
    """Run the cases below a folder, print the failures and the counts, and return the exit status."""
    files = list(read_cases(folder))
    library = Library.from_files(files)
    unequal_ids = set(find_unequal_plans(folder))
    failed = sum(not run_file(file, library, folder, strict, file.id in unequal_ids) for file in files)
    if not files:
        print(f"{folder} contains no case: no .json file is below it.", file=sys.stderr)
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


def run_file(file: Case | InvalidFile, library: Library, folder: Path, strict: bool, has_other_bytes: bool) -> bool:
    """Run one file, print its notes and failures, and return whether it passed."""
    path = file.path.relative_to(folder)
    if isinstance(file, InvalidFile):
        print(f"FAILED {path}: {file.reason}")
        return False
    report = check_case(file, library, strict=strict)
    failures = [*report.failures, *([OTHER_BYTES] if has_other_bytes else [])]
    for note in report.notes:
        print(f"note {path} ({file.name}): {note}")
    for failure in failures:
        print(f"FAILED {path} ({file.name}): {failure}")
    return not failures


if __name__ == "__main__":
    sys.exit(main())
