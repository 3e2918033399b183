"""`routeloom` and `python -m routeloom`."""

from shared.kernel.interrupts import leave_at_once


def main() -> None:
    """Run the command; whenever Ctrl-C comes, it ends without a traceback."""
    leave_at_once()
    from routeloom.cli.main import app  # noqa: PLC0415 - importing it takes long enough to be interrupted

    app(prog_name="routeloom")


if __name__ == "__main__":
    main()
