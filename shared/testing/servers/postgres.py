"""PostgreSQL in a directory of its own, durable enough for a test and no more."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from shared.testing.servers.process import ServerFailed, ServerMissing, ServerProcess, find_program

SUPERUSER = "postgres"
STATUS_LINE = 7  # of postmaster.pid, where the first line is the process
TRUST_LOOPBACK = "host all all 127.0.0.1/32 trust\n"
SETTINGS = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "max_connections": "200"}
OF_TESTS = {
    "shared_buffers": "32MB",
    # A crash of the machine may lose a test's data. A crash of the server may not, which is why commits stay
    # synchronous: they reach the kernel before they are acknowledged.
    "fsync": "off",
    "full_page_writes": "off",
}


class PostgresServer(ServerProcess):
    """A cluster whose superuser needs no password on loopback; `url` is its maintenance database."""

    stop_signal = signal.SIGINT  # "fast": sessions are ended, a checkpoint is written
    kill_signal = signal.SIGQUIT  # "immediate": SIGKILL would leave the sessions' processes behind

    def __init__(self, data: Path, log: Path, settings: Mapping[str, str] = OF_TESTS) -> None:
        super().__init__(log)
        self._settings = {**SETTINGS, **settings}
        self._programs = installed_programs()
        self._data = data
        self._databases = 0

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql+asyncpg://{SUPERUSER}@{self.host}:{self.port}/{database}"

    def initialise(self) -> None:
        options = ["--no-sync", "--no-instructions", "--auth=trust", f"--username={SUPERUSER}"]
        options += ["--encoding=UTF8", "--locale=C.UTF-8", "--pgdata", str(self._data)]
        _run([*as_unprivileged(), str(self._programs / "initdb"), *options])
        (self._data / "pg_hba.conf").write_text(TRUST_LOOPBACK, encoding="utf-8")

    def command(self) -> Sequence[str]:
        settings = self._settings | {"port": str(self.port)}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [*as_unprivileged(), str(self._programs / "postgres"), "-D", str(self._data), *options]

    def answers(self) -> bool:
        # The lock file says who serves and when it accepts sessions; a port alone could be a stranger's.
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(self.pid)] and lines[STATUS_LINE:] == ["ready   "]

    def pause(self) -> None:
        """Freeze the server and every session of it."""
        super().pause()
        self._signal_sessions(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal_sessions(signal.SIGCONT)
        super().resume()

    def execute(self, statement: str, database: str = "postgres") -> str:
        """Run one statement as the superuser and return what psql prints, unaligned."""
        client = [str(self._programs / "psql"), "--no-psqlrc", "--quiet", "--tuples-only", "--no-align"]
        target = [
            "--host",
            self.host,
            "--port",
            str(self.port),
            "--username",
            SUPERUSER,
            "--dbname",
            database,
        ]
        return _run([*client, *target, "--set", "ON_ERROR_STOP=1", "--command", statement]).strip()

    def add_template(self, name: str, fill: Callable[[str], object]) -> None:
        """Make a database once, let `fill` build its schema at the given URL, and keep it for copying."""
        self.execute(f'CREATE DATABASE "{name}"')
        fill(self.url_of(name))

    def create_database(self, template: str = "template1") -> str:
        """The URL of a fresh copy of the template; some 14 ms instead of a run of every migration."""
        self._databases += 1
        name = f"test_{self._databases}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url_of(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, ending whatever is still connected to it."""
        name = urlsplit(url).path.removeprefix("/")
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a database that lives as long as the block."""
        url = self.create_database(template)
        try:
            yield url
        finally:
            self.drop_database(url)

    def _signal_sessions(self, number: signal.Signals) -> None:
        if not self.running:
            return
        # Each session's process leads a process group of its own, so there is no group to signal.
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii")
        for child in children.split():
            try:
                os.kill(int(child), number)
            except ProcessLookupError:
                continue


@contextmanager
def postgres_server(directory: Path, settings: Mapping[str, str] = OF_TESTS) -> Iterator[PostgresServer]:
    """A new cluster; its log is in `directory`, its data where its unprivileged owner can reach them.

    With no settings it is as PostgreSQL comes, and as durable.
    """
    directory.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="routeloom-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(home, _unprivileged_user(), _unprivileged_user())
        server = PostgresServer(home / "data", directory / "postgres.log", settings)
        server.initialise()
        server.start_first()
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def installed_programs() -> Path:
    """The directory of the newest installed server's programs, which Debian keeps off PATH."""
    versions = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if versions:
        return max(versions, key=lambda path: float(path.parent.name))
    found = shutil.which("initdb")
    if found is None:
        raise ServerMissing("postgres", "postgresql")
    return Path(found).resolve().parent


def as_unprivileged() -> list[str]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    user = _unprivileged_user()
    switch = [find_program("setpriv", "util-linux"), "--reuid", user, "--regid", user, "--clear-groups"]
    # The change of user clears the parent-death signal, so it is asked for again.
    return [*switch, "--pdeathsig", "INT"]


def _unprivileged_user() -> str:
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise ServerMissing("the user postgres", "postgresql") from None


def _run(command: Sequence[str]) -> str:
    # "/" because the unprivileged user may not enter the caller's working directory.
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise ServerFailed(done.stderr.strip())
    return done.stdout
