"""`python -m setup run` prepares `make run`; `python -m setup test` prepares everything else too."""

import argparse

from setup import assets, conformance_clients, environment, system_packages
from setup.steps import ROOT, SetupFailed, alone, complain
from shared.kernel import interrupts


def prepare(part: str, *, interpreter_chosen: bool) -> None:
    system_packages.install(part)
    environment.create(interpreter_chosen=interpreter_chosen)
    environment.install_requirements(part)
    environment.install_project()
    environment.compile_project()
    assets.build()
    assets.pack()
    if part == "test":
        conformance_clients.install()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m setup", description=__doc__)
    parser.add_argument("part", choices=["run", "test"])
    parser.add_argument(
        "--this-interpreter",
        action="store_true",
        help="make .venv anew when it was made by another interpreter than the one running this",
    )
    arguments = parser.parse_args()
    try:
        with interrupts.orderly(), alone():
            prepare(arguments.part, interpreter_chosen=arguments.this_interpreter)
    except SetupFailed as failure:
        complain(str(failure))
        return 1
    except OSError as failure:
        complain(f"{failure.filename or ROOT}: {failure.strerror}.")
        return 1
    except KeyboardInterrupt:
        complain("interrupted; the next run goes on from here.")
        return interrupts.INTERRUPTED
    return 0
