"""Independent programs that the conformance tests run: fetched by npm from lock files, used in place."""

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

AUTH = ROOT / "tests" / "conformance" / "auth"
#: Clients that sign in with ours, and a server that is graded by the same tests.
PACKAGES = ("clients", "peers")
INPUTS = ("package.json", "package-lock.json", ".npmrc")


def install() -> None:
    """Fetch what changed its lock or is gone."""
    for name in PACKAGES:
        _fetch(name)


def _fetch(name: str) -> None:
    directory = AUTH / name
    key = content_key([directory / each for each in INPUTS])
    stamp = STAMPS / f"conformance-{name}"
    if stamped(stamp, key) and (directory / "node_modules").is_dir():
        return
    say(f"fetching the {name} of the conformance tests")
    try:
        run([PYTHON, "-c", NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=directory)
    except ProgramFailed as failure:
        if unreachable(failure.output):
            raise SetupFailed(
                f"The npm registry cannot be reached, and the {name} of the tests are not there yet: "
                "setup needs the network once."
            ) from failure
        raise SetupFailed("npm failed; .stamps/setup.log says why.") from failure
    set_stamp(stamp, key)
