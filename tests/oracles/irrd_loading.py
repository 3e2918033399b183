"""Runs in IRRd's own environment: loads objects one by one and passes over those that it refuses."""

import json
import sys
from pathlib import Path

from irrd.conf import config_init  # type: ignore[import-not-found]
from irrd.rpsl.rpsl_objects import rpsl_object_from_text  # type: ignore[import-not-found]
from irrd.storage.database_handler import DatabaseHandler  # type: ignore[import-not-found]
from irrd.storage.models import JournalEntryOrigin  # type: ignore[import-not-found]


def main() -> None:
    config_init(sys.argv[1])
    handler = DatabaseHandler()
    handler.disable_journaling()
    refused = []
    for number, text in enumerate(
        Path(sys.argv[2]).read_text(encoding="utf-8", errors="replace").split("\n\n")
    ):
        try:
            found = rpsl_object_from_text(text.strip() + "\n", strict_validation=False)
        except Exception:  # noqa: BLE001 - an unknown class, for one
            refused.append(number)
            continue
        if found.messages.errors():
            refused.append(number)
            continue
        handler.upsert_rpsl_object(found, JournalEntryOrigin.mirror)
    handler.commit()
    handler.close()
    print(json.dumps(refused))  # noqa: T201 - the answer to who started it


main()
