"""One request from inside a network namespace: `python -m tests.lab.asking METHOD URL TOKEN [VERSION]`.

The body comes by standard input; the status and the answer go out as one JSON document.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request


def main() -> None:
    """Ask and print."""
    method, url, token, *version = sys.argv[1:]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    if version:
        headers["If-Match"] = f'"{version[0]}"'
    body = sys.stdin.read().encode() or None
    request = urllib.request.Request(url, body, headers, method=method)  # noqa: S310 - the lab's own server
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        status, text = refusal.code, refusal.read().decode()
    sys.stdout.write(json.dumps({"status": status, "body": json.loads(text) if text else None}))


if __name__ == "__main__":
    main()
