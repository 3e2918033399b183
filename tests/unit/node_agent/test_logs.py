from __future__ import annotations

from node_agent.logs import without_secrets
from shared.kernel.secrets import mint


def test_no_secret_reaches_the_log() -> None:
    secret = mint("rlg")
    event = without_secrets(None, "info", {"event": f"got {secret.text}", "count": 3, "token": secret.text})
    assert secret.text not in str(event)
    assert secret.id in event["event"]
    assert event["count"] == 3
