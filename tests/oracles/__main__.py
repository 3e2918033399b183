"""`make oracle-irrd`: asks IRRd, and writes its answers down for the suite."""

import json
import tempfile
from pathlib import Path

from tests.oracles.irrd import irrd_server
from tests.oracles.questions import RECORDING, ask, files, questions


def main() -> None:
    held = files()
    asked = questions(held)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # PostgreSQL runs as somebody else
        with irrd_server(directory, [file.raw.strip(b"\n") for file in held]) as server:
            answers = ask(server.port, asked)
    refused = set(server.refused)
    taken = {file.path.decode(): file.raw.decode() for place, file in enumerate(held) if place not in refused}
    recording = {"objects": taken, "answers": answers}
    RECORDING.write_text(json.dumps(recording, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{RECORDING.name}: {len(answers)} answers about {len(taken)} of {len(held)} objects")  # noqa: T201


if __name__ == "__main__":
    main()
