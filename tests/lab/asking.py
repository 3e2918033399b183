"""Requests from inside a network namespace: `python -m tests.lab.asking`, while its input lasts.

Each line in is one request as a JSON object, each line out its status, headers and text.
"""

from __future__ import annotations

import http.client
import json
import sys
import urllib.error
import urllib.request
from typing import Any

_SECONDS = 60


def main() -> None:
    """Ask and answer until nobody asks any more."""
    opener = urllib.request.build_opener(_NoRedirect())
    for line in sys.stdin:
        wanted = json.loads(line)
        sys.stdout.write(json.dumps(answer(opener, wanted)) + "\n")
        sys.stdout.flush()


def answer(opener: urllib.request.OpenerDirector, wanted: dict[str, Any]) -> dict[str, Any]:
    """What came back; the status is 0 where nothing did."""
    body = wanted["body"].encode() if wanted["body"] is not None else None
    request = urllib.request.Request(  # noqa: S310 - the lab's own server
        wanted["url"], body, wanted["headers"], method=wanted["method"]
    )
    try:
        with opener.open(request, timeout=_SECONDS) as found:
            return _told(found)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return _told(refusal)
    except (OSError, http.client.HTTPException) as error:
        return {"status": 0, "headers": [], "text": repr(error)}


def _told(found: Any) -> dict[str, Any]:
    return {"status": found.status, "headers": found.headers.items(), "text": found.read().decode()}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


if __name__ == "__main__":
    main()
