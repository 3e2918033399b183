"""`python -m routeloom`."""

from routeloom.cli.main import app

if __name__ == "__main__":
    app(prog_name="routeloom")
