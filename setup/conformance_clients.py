"""Independent clients that the conformance tests run: fetched by npm from a lock file, used in place."""

from setup.assets import NPM
from setup.environment import PYTHON
from setup.steps import (
    ROOT,
    STAMPS,
    ProgramFailed,
    SetupFailed,
    content_key,
    run,
    say,
    set_stamp,
    stamped,
    unreachable,
)

CLIENTS = ROOT / "tests" / "conformance" / "auth" / "clients"
INPUTS = ("package.json", "package-lock.json", ".npmrc")


def install() -> None:
    """Fetch them when the lock changed or they are gone."""
    key = content_key([CLIENTS / name for name in INPUTS])
    if stamped(STAMPS / "conformance-clients", key) and (CLIENTS / "node_modules").is_dir():
        return
    say("fetching the clients of the conformance tests")
    try:
        run([PYTHON, "-c", NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=CLIENTS)
    except ProgramFailed as failure:
        if unreachable(failure.output):
            raise SetupFailed(
                "The npm registry cannot be reached, and the clients of the tests are not there yet: "
                "setup needs the network once."
            ) from failure
        raise SetupFailed("npm failed; .stamps/setup.log says why.") from failure
    set_stamp(STAMPS / "conformance-clients", key)
