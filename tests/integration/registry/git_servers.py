"""Servers that git fetches from as it does in the world: git's own backend behind TLS, and OpenSSH."""

from __future__ import annotations

import base64
import os
import pwd
import shlex
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from shared.testing.servers.ports import free_loopback_port

USER, PASSWORD = "mirror", "not-a-secret"
#: Of requests to the backend, as CGI (RFC 3875) has them.
_HEADERS = {
    "content-type": "CONTENT_TYPE",
    "content-length": "CONTENT_LENGTH",
    "content-encoding": "HTTP_CONTENT_ENCODING",
    "git-protocol": "HTTP_GIT_PROTOCOL",
}


@dataclass(frozen=True, slots=True)
class HttpsGit:
    """A running server, the certificate that it shows, and what it was asked for."""

    port: int
    certificate: Path
    asked: list[str]

    def url(self, name: str, *, credentials: str = "") -> str:
        return f"https://{credentials}localhost:{self.port}/{name}"


@contextmanager
def https_git(directory: Path, *, private: bool = False, slow: bool = False) -> Iterator[HttpsGit]:
    """Serve the repositories in the directory; `private` asks for a password, `slow` never answers."""
    certificate, key = directory / "server.crt", directory / "server.key"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    written = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", "-x509", *made, *subject, *written], check=True, capture_output=True)
    asked: list[str] = []
    handler = type(
        "Handler", (_Backend,), {"root": directory, "private": private, "slow": slow, "asked": asked}
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    try:
        yield HttpsGit(server.server_address[1], certificate, asked)
    finally:
        _Backend.ended.set()
        server.shutdown()
        serving.join()
        server.server_close()
        _Backend.ended.clear()


class _Backend(BaseHTTPRequestHandler):
    """Hands each request to `git http-backend`."""

    root: Path
    private: bool
    slow: bool
    asked: list[str]
    ended = threading.Event()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, *_arguments: object) -> None:
        """The test keeps its own record."""

    def _answer(self) -> None:
        self.close_connection = True
        self.asked.append(f"{self.command} {self.path}")
        if self.slow:
            self.ended.wait(60)
            return
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.private and self.headers.get("authorization") != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="registry"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self._pass_on(self._backend())

    def _backend(self) -> bytes:
        asked = urlsplit(self.path)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": asked.path,
            "QUERY_STRING": asked.query,
            **{name: self.headers[header] for header, name in _HEADERS.items() if header in self.headers},
        }
        environment["GIT_PROTOCOL"] = environment.get("HTTP_GIT_PROTOCOL", "")
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
        )
        return done.stdout

    def _pass_on(self, printed: bytes) -> None:
        head, _, body = printed.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@dataclass(frozen=True, slots=True)
class SshGit:
    """A running OpenSSH, and the command that reaches it with the key that it admits."""

    port: int
    command: str

    def url(self, path: Path) -> str:
        return f"ssh://{pwd.getpwuid(os.getuid()).pw_name}@127.0.0.1:{self.port}{path}"


@contextmanager
def ssh_git(directory: Path) -> Iterator[SshGit]:
    """OpenSSH on loopback with keys and a configuration of its own."""
    for name in ("host", "client", "stranger"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name)], check=True
        )
    port = free_loopback_port()
    (directory / "admitted").write_bytes((directory / "client.pub").read_bytes())
    public = (directory / "host.pub").read_text()
    (directory / "known").write_text(f"[127.0.0.1]:{port} {public}")
    configuration = directory / "sshd.conf"
    configuration.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {directory / 'host'}\nPidFile none\n"
        f"AuthorizedKeysFile {directory / 'admitted'}\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    if os.getuid() == 0:  # OpenSSH's own start script makes it, which nothing here runs
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with (directory / "sshd.log").open("wb") as log:
        server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", str(configuration)], stderr=log)
        try:
            _listening(directory / "sshd.log", server)
            yield SshGit(port, ssh_command(directory, "client"))
        finally:
            server.terminate()
            server.wait()


def ssh_command(directory: Path, key: str) -> str:
    """What git is told to call: the key and the known host alone, nothing of this host's own settings."""
    options = {
        "IdentityFile": directory / key,
        "UserKnownHostsFile": directory / "known",
        "IdentitiesOnly": "yes",
        "StrictHostKeyChecking": "yes",
        "BatchMode": "yes",
    }
    words = ["ssh", "-F", "/dev/null", *(f"-o{name}={value}" for name, value in options.items())]
    return shlex.join(words)


def _listening(log: Path, server: subprocess.Popen[bytes]) -> None:
    """Wait until it says so."""
    clock = threading.Event()
    for _ in range(400):
        if b"Server listening" in log.read_bytes():
            return
        assert server.poll() is None, log.read_text()
        clock.wait(0.05)
    raise AssertionError(log.read_text())
