"""What each container gets to read: access lists, passwords of its own, the settings with its URLs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from routeloom.stack.errors import SecretsNotWritable
from routeloom.stack.passwords import USERS
from shared.kernel.files import write_public

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from routeloom.stack.passwords import Passwords

#: Servers with an access list, by the name of its template.
_LISTED = ("valkey", "valkey-state", "redis")
#: Users of those whose password the container's own command line needs.
_OWN = ("operator", "maintenance")
#: Where a browser finds the captcha, and where the sign-in service does.
CAP_PATH = "/cap"
_CAP_INSIDE = "http://cap:3000"


def write_files(root: Path, templates: Path, passwords: Passwords, public_url: str) -> list[str]:
    """Write every file below `root/<container>/`, and return their names.

    A directory is a volume that one service mounts, so what lies in it is readable there and nowhere else.
    """
    wanted = {
        **dict(_servers(templates, passwords)),
        **dict(_services(passwords, public_url)),
    }
    try:
        for name, text in wanted.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_public(path, text.encode())
    except OSError as error:
        raise SecretsNotWritable(f"{error.filename or root} cannot be written: {error.strerror}.") from None
    return sorted(wanted)


def _servers(templates: Path, passwords: Passwords) -> Iterator[tuple[str, str]]:
    for user in USERS["postgres"]:
        yield f"postgres/{user}", passwords.of("postgres", user)
    for server in _LISTED:
        text = (templates / f"{server}.acl").read_text(encoding="utf-8")
        yield f"{server}/users.acl", access_list(text, server, passwords)
        for user in set(_OWN) & set(USERS[server]):
            yield f"{server}/{user}", passwords.of(server, user)
    yield "cap/admin-key", passwords.of("cap", "admin")
    yield "cap/redis-url", f"redis://cap:{passwords.of('valkey', 'cap')}@valkey:6379/0"


def access_list(template: str, server: str, passwords: Passwords) -> str:
    """The template with the digest of each user's password in place of `{user}`."""
    for user in USERS[server]:
        template = template.replace(f"{{{user}}}", passwords.digest(server, user))
    return template


def _services(passwords: Passwords, public_url: str) -> Iterator[tuple[str, str]]:
    def database(service: str) -> dict[str, str]:
        return {"url": f"postgresql://{service}:{passwords.of('postgres', service)}@postgres/{service}"}

    def url(server: str, user: str, number: int) -> dict[str, str]:
        return {"url": f"redis://{user}:{passwords.of(server, user)}@{server}:6379/{number}"}

    control = {
        "database": database("control"),
        "kv": url("valkey", "control", 1),
        "cache": url("redis", "control", 1),
        "runtime_state": url("valkey-state", "control", 0),
        "durable": url("valkey-state", "control", 1),
    }
    auth = {
        "database": database("auth"),
        "kv": url("valkey", "auth", 2),
        "cache": url("redis", "auth", 2),
    }
    registry = {
        "database": database("registry"),
        "cache": url("redis", "registry", 3),
        "runtime_state": url("valkey-state", "registry", 0),
    }
    yield "control/routeloom.toml", _toml("control", control, {})
    yield "auth/routeloom.toml", _toml("auth", auth, _captcha(passwords, public_url))
    yield "registry/routeloom.toml", _toml("registry", registry, {})


def _captcha(passwords: Passwords, public_url: str) -> dict[str, str]:
    if passwords.captcha is None:
        return {}
    return {
        "cap_url": f"{public_url.rstrip('/')}{CAP_PATH}",
        "cap_verify_url": _CAP_INSIDE,
        "cap_site_key": passwords.captcha.site_key,
        "cap_secret": passwords.captcha.secret,
    }


def _toml(table: str, groups: Mapping[str, Mapping[str, str]], plain: Mapping[str, str]) -> str:
    # A JSON string is a TOML string as well.
    lines = ["# Written by `routeloom stack init`, and written anew at every start.", f"[{table}]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in plain.items()]
    for group, values in groups.items():
        lines += ["", f"[{table}.{group}]"]
        lines += [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    return "\n".join(lines) + "\n"
