"""A small Cap server on loopback: challenges, redemption of real work, tokens that are spent once."""

import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SITE_KEY, SECRET = "d9256640cb53", "cap-secret"
#: How many puzzles, and how many characters of each salt and target.
COUNT, SALT, TARGET = 4, 32, 3
_WORD = 0xFFFFFFFF


def pseudorandom_hex(seed: str, length: int) -> str:
    """The text that both sides derive from a seed: FNV-1a (32 bits), then xorshift32."""
    state = 2166136261
    for character in seed:
        state = ((state ^ ord(character)) * 16777619) & _WORD
    text = ""
    while len(text) < length:
        state ^= (state << 13) & _WORD
        state ^= state >> 17
        state ^= (state << 5) & _WORD
        text += f"{state:08x}"
    return text[:length]


@dataclass
class CapStandIn:
    """What it gave out and was told."""

    port: int = 0
    challenges: set[str] = field(default_factory=set)
    good: set[str] = field(default_factory=set)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    #: Status and body in place of an honest answer of siteverify; a status of 0 never answers.
    instead: tuple[int, str] | None = None
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, Any]:
        return {"cap_url": self.url, "cap_site_key": SITE_KEY, "cap_secret": SECRET}

    def token(self) -> str:
        """One that somebody has earned."""
        token = f"{secrets.token_hex(8)}:{secrets.token_hex(15)}"
        self.good.add(token)
        return token

    def verified(self) -> list[dict[str, Any]]:
        return [body for path, body in self.asked if path == "siteverify"]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        expires = int((datetime.now(UTC) + timedelta(minutes=10)).timestamp() * 1000)
        if path == "challenge":
            token = secrets.token_hex(25)
            self.challenges.add(token)
            return 200, {
                "challenge": {"c": COUNT, "s": SALT, "d": TARGET},
                "token": token,
                "expires": expires,
            }
        if path == "redeem":
            done = str(body.get("token")) in self.challenges and solved(body)
            self.challenges.discard(str(body.get("token")))
            if not done:
                return 403, {"success": False}
            return 200, {"success": True, "token": self.token(), "expires": expires}
        spent = body.get("secret") == SECRET and body.get("response") in self.good
        self.good.discard(str(body.get("response")))
        return 200, {"success": spent}


def solved(body: dict[str, Any]) -> bool:
    """Whether the work was done."""
    token, solutions = str(body.get("token")), list(body.get("solutions", []))
    for number, nonce in enumerate(solutions, start=1):
        salt = pseudorandom_hex(f"{token}{number}", SALT)
        target = pseudorandom_hex(f"{token}{number}d", TARGET)
        if not hashlib.sha256(f"{salt}{nonce}".encode()).hexdigest().startswith(target):
            return False
    return len(solutions) == COUNT


@contextmanager
def cap_server() -> Iterator[CapStandIn]:
    stand_in = CapStandIn()

    class Handler(BaseHTTPRequestHandler):
        def do_OPTIONS(self) -> None:
            self._send(204, b"")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            _, key, path = self.path.split("/", 2)
            body = json.loads(raw or b"{}")
            stand_in.asked.append((path, body))
            if key != SITE_KEY:
                self._send(404, b"{}")
            elif path == "siteverify" and stand_in.instead is not None:
                status, text = stand_in.instead
                if status == 0:
                    stand_in.released.wait(60)
                    self.close_connection = True
                    return
                self._send(status, text.encode())
            else:
                answered, told = stand_in.answer(path, body)
                self._send(answered, json.dumps(told).encode())

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "content-type")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        stand_in.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield stand_in
        finally:
            stand_in.released.set()
            server.shutdown()
            thread.join()
