"""Message catalogues: .po files are kept, .mo files are made from them."""

from setup.steps import (
    ROOT,
    STAMPS,
    VENV,
    ProgramFailed,
    SetupFailed,
    content_key,
    run,
    say,
    set_stamp,
    stamped,
)

LOCALE = ROOT / "shared" / "web" / "locale"


def compile_catalogues() -> None:
    sources = sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))
    key = content_key(sources)
    if stamped(STAMPS / "translations", key) and all(po.with_suffix(".mo").exists() for po in sources):
        return
    if sources:
        say("compiling the translations")
    for po in sources:
        try:
            run([VENV / "bin" / "pybabel", "compile", "-i", po, "-o", po.with_suffix(".mo")])
        except ProgramFailed as failure:
            raise SetupFailed(
                f"{po.relative_to(ROOT)} does not compile; .stamps/setup.log says why."
            ) from failure
    set_stamp(STAMPS / "translations", key)
