"""`make oracle-irrd`: asks IRRd, and writes its answers down for the suite."""

import json
import tempfile
from pathlib import Path

from tests.oracles.irrd import irrd_server
from tests.oracles.questions import PLAN, RECORDING, ask, files, questions


def main() -> None:
    held = files()
    asked = questions(held)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)  # PostgreSQL runs as somebody else
        with irrd_server(directory, [file.raw.strip(b"\n") for file in held]) as server:
            answers = ask(server.port, asked)
    refused = [held[place].path.decode() for place in server.refused]
    recording = {"plan": PLAN.model_dump(), "refused": refused, "answers": answers}
    RECORDING.write_text(json.dumps(recording, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{RECORDING.name}: {len(answers)} answers about {len(held) - len(refused)} of {len(held)} objects")  # noqa: T201


if __name__ == "__main__":
    main()
