from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from node_agent.settings import AgentSettings


class TestAgentSettings:
    def test_reads_the_environment(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("ROUTELOOM_AGENT_SERVER_URL", "https://control.example/base/")
        monkeypatch.setenv("ROUTELOOM_AGENT_STATE_DIRECTORY", str(tmp_path))
        settings = AgentSettings()
        assert settings.socket_url == "wss://control.example/base/api/v1/agent/ws"
        assert settings.token_path == tmp_path / "agent-token"
        assert not settings.server_is_local

    def test_a_local_server_is_spoken_to_directly(self) -> None:
        settings = AgentSettings(server_url="http://[::1]:8420")
        assert settings.socket_url == "ws://[::1]:8420/api/v1/agent/ws"
        assert settings.server_is_local

    @pytest.mark.parametrize("url", ["ftp://x", "localhost:8420", "http://", "http://x?y=1", "http://x#y"])
    def test_refuses_an_address_that_is_no_server(self, url: str) -> None:
        with pytest.raises(ValidationError, match="http"):
            AgentSettings(server_url=url)
