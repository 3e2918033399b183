"""Half of its work, then a stop for as long as the file that `STOP_FILE` names is there."""

import os
import time
from pathlib import Path

from alembic import op

revision = "second"
down_revision = "first"


def upgrade() -> None:
    op.execute("CREATE TABLE second_half_one (id BIGINT PRIMARY KEY)")
    stop = os.environ.get("STOP_FILE")
    while stop and Path(stop).exists():
        Path(stop).with_suffix(".reached").touch()
        time.sleep(0.01)
    op.execute("CREATE TABLE second_half_two (id BIGINT PRIMARY KEY)")
