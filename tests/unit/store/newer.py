"""A newer version of adsunify, which has one migration more than this one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adsunify.store import migrate, upgrading

NEXT_VERSION = f"{int(migrate.HEAD_VERSION) + 1:04d}"
MIGRATION = '''"""{summary}"""

import sqlalchemy as sa
from alembic import op

revision = "{version}"
down_revision = "{before}"
branch_labels = None
depends_on = None
kind = "{kind}"
in_transaction = {in_transaction}


def upgrade():
    {body}
'''
ADD_COLUMN = 'op.add_column("operations", sa.Column("cost", sa.Text(), nullable=True))'
DROP_COLUMN = 'op.drop_column("operations", "undone_by")'
BUILD_INDEX = (
    'op.drop_index("ix_operations_cost", "operations", if_exists=True, postgresql_concurrently=True)\n'
    '    op.create_index("ix_operations_cost", "operations", ["undoes"], postgresql_concurrently=True)'
)


@contextmanager
def newer_version(
    folder: Path, kind: str = "expanding", body: str = ADD_COLUMN, in_transaction: bool = True, after: int = 0
) -> Iterator[None]:
    """Inside the block this process is the newer version. ``folder`` gets its migrations.

    ``after``: how many expanding migrations come before its last one, as those of versions in between.
    """
    migrations = folder / "newer_migrations"
    shutil.copytree(migrate.MIGRATIONS_FOLDER, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    before = migrate.HEAD_VERSION
    steps = [("expanding", True, ADD_COLUMN)] * after + [(kind, in_transaction, body)]
    for number, (kind_, in_transaction_, body_) in enumerate(steps, int(before) + 1):
        text = MIGRATION.format(
            summary="Does what the test wants.",
            version=f"{number:04d}",
            before=before,
            kind=kind_,
            in_transaction=in_transaction_,
            body=body_,
        )
        before = f"{number:04d}"
        (migrations / f"{before}_newer.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrate, "MIGRATIONS_FOLDER", migrations)
        for module in (migrate, upgrading):
            patch.setattr(module, "HEAD_VERSION", before)
        yield
    shutil.rmtree(migrations)
