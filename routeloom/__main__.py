"""`routeloom` and `python -m routeloom`."""

import sys

from shared.kernel.interrupts import leave_at_once

#: sysexits.h: something that is needed is not available now.
_UNAVAILABLE = 69


def main() -> None:
    """Run the command; whenever Ctrl-C comes, it ends without a traceback.

    What the operating system refuses, such as a file of somebody else, is one sentence.
    """
    leave_at_once()
    from routeloom.cli.main import app  # noqa: PLC0415 - importing it takes long enough to be interrupted

    try:
        app(prog_name="routeloom")
    except OSError as error:
        sys.stderr.write(f"{error.filename or 'routeloom'}: {error.strerror or error}.\n")
        sys.exit(_UNAVAILABLE)


if __name__ == "__main__":
    main()
