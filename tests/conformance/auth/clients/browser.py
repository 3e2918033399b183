"""What stands between a client in Python and the person: plain HTTP with a session's cookie."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import requests


class Browser:
    """Follows nothing by itself."""

    def __init__(self, issuer: str, cookie_name: str, cookie: str) -> None:
        self._issuer = issuer
        self._cookies = {cookie_name: cookie}

    def visit(self, address: str, form: dict[str, str] | None = None) -> requests.Response:
        pairs = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        answer = requests.request(
            "GET" if form is None else "POST",
            address,
            data=form,
            headers={"Accept": "text/html", "Cookie": pairs},
            allow_redirects=False,
            timeout=60,
        )
        self._cookies.update({cookie.name: cookie.value or "" for cookie in answer.cookies})
        return answer

    def authorize(self, address: str) -> tuple[str, int]:
        """Where the client's request leads, agreed to if that is asked, and whether it was."""
        answer = self.visit(address)
        if answer.status_code != 200:
            return answer.headers["location"], 0
        form = {**_fields(answer.text, "csrf_token", "request"), "decision": "allow"}
        return self.visit(urljoin(self._issuer, "/auth/consent"), form).headers["location"], 1

    def confirm_device(self, address: str, user_code: str) -> None:
        """Type a device's code, look at it and allow it."""
        page = self.visit(f"{address}?user_code={user_code}")
        form = {**_fields(page.text, "csrf_token", "user_code"), "decision": "allow"}
        assert self.visit(urljoin(self._issuer, "/auth/device/decision"), form).status_code == 303


def _fields(page: str, *names: str) -> dict[str, str]:
    found = {name: re.search(f'name="{name}" value="([^"]*)"', page) for name in names}
    return {name: match[1] for name, match in found.items() if match}
