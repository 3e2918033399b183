from __future__ import annotations

import stat
import threading
from pathlib import Path
from uuid import UUID

import pytest

from node_agent import state
from node_agent.errors import AgentAlreadyRunning, StateDirectoryUnusable


class TestPrepare:
    def test_makes_a_private_directory(self, tmp_path: Path) -> None:
        state.prepare(tmp_path / "a" / "b")
        assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700

    def test_leaves_a_directory_of_others_alone(self, tmp_path: Path) -> None:
        (tmp_path / "something").touch()
        tmp_path.chmod(0o755)
        with pytest.raises(StateDirectoryUnusable, match="other files"):
            state.prepare(tmp_path)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755

    def test_tells_what_is_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(StateDirectoryUnusable, match="cannot be used"):
            state.prepare(tmp_path / "file")


class TestFiles:
    def test_the_identity_stays_the_same(self, tmp_path: Path) -> None:
        first, second = state.identity(tmp_path), state.identity(tmp_path)
        assert state.public_text(first) == state.public_text(second)
        assert stat.S_IMODE((tmp_path / "identity.key").stat().st_mode) == 0o600

    def test_a_private_file_replaces_a_readable_one(self, tmp_path: Path) -> None:
        path = tmp_path / "agent-token"
        path.write_text("old")
        path.chmod(0o644)
        state.write_private(path, "new\n")
        assert (state.read_text(path), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
        assert list(tmp_path.iterdir()) == [path]

    def test_remembers_and_forgets_a_registration(self, tmp_path: Path) -> None:
        assert state.waiting_registration(tmp_path) is None
        state.keep_registration(tmp_path, UUID(int=5))
        assert state.waiting_registration(tmp_path) == UUID(int=5)
        state.keep_registration(tmp_path, None)
        state.keep_registration(tmp_path, None)
        assert state.waiting_registration(tmp_path) is None

    def test_a_damaged_registration_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "registration").write_text("damaged")
        assert state.waiting_registration(tmp_path) is None


class TestLock:
    def test_is_had_while_others_ask_who_holds_it(self, tmp_path: Path) -> None:
        (tmp_path / "agent.lock").touch()
        ended = threading.Event()

        def ask() -> None:
            while not ended.wait(0.0005):
                state.lock_holder(tmp_path)

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            for _ in range(300):
                with state.locked(tmp_path):
                    pass
        finally:
            ended.set()
            asking.join()

    def test_is_held_by_one_and_names_its_purpose(self, tmp_path: Path) -> None:
        assert state.lock_holder(tmp_path) is None
        with state.locked(tmp_path, "1.0 http://control.example"):
            holder = state.lock_holder(tmp_path)
            assert holder is not None
            assert holder.purpose == "1.0 http://control.example"
            with pytest.raises(AgentAlreadyRunning), state.locked(tmp_path):
                pass
            assert state.lock_holder(tmp_path) == holder
        assert state.lock_holder(tmp_path) is None

    def test_a_lock_file_that_nobody_holds_is_no_agent(self, tmp_path: Path) -> None:
        (tmp_path / "agent.lock").write_text("1 left behind\n")
        assert state.lock_holder(tmp_path) is None
        with state.locked(tmp_path):
            pass
