"""The virtual environment in .venv: hashed requirements, and this project itself."""

import shutil
import sys
from contextlib import suppress
from pathlib import Path

from setup.steps import (
    ROOT,
    VENV,
    ProgramFailed,
    SetupFailed,
    content_key,
    run,
    say,
    set_stamp,
    stamped,
    unreachable,
)

PYTHON = VENV / "bin" / "python"
# Inside the environment, so that whoever deletes the environment deletes them with it.
STAMPS = VENV / "stamps"
REQUIREMENTS = {
    "run": ("build", "main", "assets"),
    "test": ("build", "main", "assets", "dev"),
}
# Without a network the sentence that says so must come soon; a slow one is tried again.
_IMPATIENT = ("--retries", "2", "--timeout", "6")
# Names are asked for once a try (resolv.conf(5)): a resolver that is not there costs seconds otherwise.
_ASK_ONCE = {"RES_OPTIONS": "timeout:2 attempts:1"}


def create(*, interpreter_chosen: bool) -> None:
    """Keep a working environment, unless another interpreter was asked for."""
    if _works() and (_made_by_this_interpreter() or not interpreter_chosen):
        return
    say(f"making .venv with {sys.executable} ({sys.version.split()[0]})")
    if VENV.exists():
        shutil.rmtree(VENV)
    try:
        run([sys.executable, "-m", "venv", VENV])
    except ProgramFailed as failure:
        raise SetupFailed(
            f"{sys.executable} cannot make a virtual environment (on Debian, python3-venv does that)."
        ) from failure


def _works() -> bool:
    try:
        run([PYTHON, "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"])
    except (ProgramFailed, OSError):
        return False
    return True


def _made_by_this_interpreter() -> bool:
    configuration = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
    settings = dict(line.split(" = ", 1) for line in configuration.splitlines() if " = " in line)
    same_place = Path(settings.get("home", "")).resolve() == Path(sys.base_prefix, "bin").resolve()
    return same_place and settings.get("version") == sys.version.split()[0]


def install_requirements(part: str) -> None:
    for name in REQUIREMENTS[part]:
        file = ROOT / "requirements" / f"{name}.txt"
        key = content_key([file])
        if stamped(STAMPS / name, key):
            continue
        say(f"installing requirements/{name}.txt into .venv")
        _pip("install", "--require-hashes", "--requirement", str(file))
        set_stamp(STAMPS / name, key)


def install_project() -> None:
    """Install in place, from what is already there: no resolution, no download."""
    key = content_key([ROOT / "pyproject.toml", ROOT / "requirements" / "main.in"], str(ROOT))
    if stamped(STAMPS / "project", key) and (VENV / "bin" / "routeloom").exists():
        return
    say("installing the project itself into .venv")
    _pip("install", "--no-deps", "--no-index", "--no-build-isolation", "--editable", str(ROOT))
    set_stamp(STAMPS / "project", key)


def compile_project() -> None:
    """Make the byte code of our own packages, as pip has done for the others: no start compiles anything."""
    packages = sorted(path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests")
    sources = sorted(path for package in packages for path in package.rglob("*.py"))
    # By the time and size of each, as the interpreter tells whether byte code is of its source.
    key = content_key([], *(f"{path} {(told := path.stat()).st_mtime_ns} {told.st_size}" for path in sources))
    if stamped(STAMPS / "compiled", key):
        return
    with suppress(ProgramFailed):  # what cannot be compiled or kept now is compiled at the start
        run([PYTHON, "-m", "compileall", "-q", "-x", "node_modules", *(each.name for each in packages)])
        set_stamp(STAMPS / "compiled", key)


def _pip(*arguments: str) -> None:
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check", *_IMPATIENT)
    try:
        run([PYTHON, "-m", "pip", *arguments, *quiet], env=_ASK_ONCE)
    except ProgramFailed as failure:
        if unreachable(failure.output):
            raise SetupFailed(
                "The package index cannot be reached and .venv is not complete: setup needs the network once."
            ) from failure
        errors = [line for line in failure.output.splitlines() if line.startswith("ERROR:")]
        reason = errors[0].removeprefix("ERROR:").strip() if errors else "pip failed"
        raise SetupFailed(f"{reason} (all of it is in .stamps/setup.log)") from failure
