"""`python -m setup.documentation`: docs/ as a site in site/; a page that is not sound fails it."""

import os
import subprocess
import sys

from setup.environment import PYTHON
from setup.steps import ROOT, STAMPS, SetupFailed, alone, complain, content_key, say, set_stamp, stamped

_LOCK = ROOT / "requirements" / "docs.txt"
_ENVIRONMENT = ROOT / ".venv" / "docs"


def environment() -> None:
    """Make the builder's environment from its own lock, unless it is there."""
    key = content_key([_LOCK])
    stamp = _ENVIRONMENT / "stamp"
    if stamped(stamp, key):
        return
    say("installing requirements/docs.txt into .venv/docs")
    uv = PYTHON.with_name("uv")
    python = _ENVIRONMENT / "bin" / "python"
    make = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, _ENVIRONMENT]
    install = [uv, "pip", "sync", "--quiet", "--require-hashes", "--python", python, _LOCK]
    for command in (make, install):
        if subprocess.run([str(part) for part in command], check=False).returncode:
            raise SetupFailed("The builder of the pages cannot be installed: setup needs the network once.")
    set_stamp(stamp, key)


def build() -> int:
    """Build the site; a warning is an error."""
    STAMPS.mkdir(exist_ok=True)
    command = [str(_ENVIRONMENT / "bin" / "mkdocs"), "build", "--strict", "--clean", "--quiet"]
    return subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_COLOR": "1"}, check=False).returncode


def main() -> int:
    try:
        with alone():
            environment()
    except SetupFailed as failure:
        complain(str(failure))
        return 1
    status = build()
    if status == 0:
        say("the pages are in site/")
    return status


if __name__ == "__main__":
    sys.exit(main())
