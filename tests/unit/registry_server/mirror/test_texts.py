"""Files are read in the order in which they were asked for, whatever git prints of them."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from datetime import timedelta

import pytest

from registry_server.mirror.errors import RepositoryBroken
from registry_server.mirror.schemas import MirrorSettings, TreeEntry
from registry_server.mirror.store.printing import Printing, Read, open_pipe
from registry_server.mirror.store.texts import BlobTexts
from registry_server.objects.schemas import ProblemCode

ONE, TWO, THREE = "1" * 40, "2" * 40, "3" * 40
ENTRIES = [TreeEntry(b"data/x", "100644", ONE), TreeEntry(b"data/y", "100755", TWO)]


def printed(*pieces: bytes) -> Read:
    waiting = [*pieces, b""]
    return lambda: waiting.pop(0)


class TestReadSome:
    def test_gives_each_file_its_text(self) -> None:
        texts = BlobTexts(ENTRIES, MirrorSettings())
        found = texts.read_some(printed(f"{ONE} blob 2\na".encode(), f"\n\n{TWO} blob 0\n\n".encode()))
        assert [(file.path, file.mode, file.blob, file.raw) for file in found] == [
            (b"data/x", "100644", ONE, b"a\n"),
            (b"data/y", "100755", TWO, b""),
        ]
        assert not texts.missing

    def test_tells_where_git_ended_too_early(self) -> None:
        texts = BlobTexts(ENTRIES, MirrorSettings())
        read = printed(f"{ONE} blob 1\na\n".encode())
        assert len(texts.read_some(read)) == 1
        assert texts.read_some(lambda: b"") == []
        assert texts.missing

    def test_goes_on_past_a_file_that_is_too_large(self) -> None:
        texts = BlobTexts(ENTRIES, MirrorSettings(file_bytes=1024))
        large = b"x" * 700
        read = printed(f"{ONE} blob 2100\n".encode(), large, large, large, f"\n{TWO} blob 1\ny\n".encode())
        found = texts.read_some(read)
        assert [file.raw for file in found] == [None, b"y"]
        assert found[0].problem is not None
        assert found[0].problem.code is ProblemCode.FILE_TOO_LARGE

    @pytest.mark.parametrize(
        ("text", "settings"),
        [
            (f"{ONE} missing\n".encode(), MirrorSettings()),
            (f"{ONE} blob 2000\n".encode() + b"x" * 2000 + b"\n", MirrorSettings(total_bytes=1024)),
        ],
    )
    def test_refuses_a_lost_object_and_too_many_bytes(self, text: bytes, settings: MirrorSettings) -> None:
        with pytest.raises(RepositoryBroken):
            BlobTexts(ENTRIES, settings).read_some(printed(text))


class TestTake:
    async def test_ends_a_command_that_prints_too_slowly(self) -> None:
        ours, theirs = open_pipe()
        silent = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=theirs)
        os.close(theirs)
        printing = Printing(ours, timedelta(milliseconds=50), silent.kill)
        try:
            with pytest.raises(TimeoutError):
                await printing.take(_first)
            assert printing.left == 0
        finally:
            await silent.wait()
            await printing.settle()
            os.close(ours)

    async def test_hands_on_what_the_work_raises(self) -> None:
        ours, theirs = open_pipe()
        os.close(theirs)
        printing = Printing(ours, timedelta(minutes=1), _nothing)
        with pytest.raises(RepositoryBroken):
            await printing.take(_refuse)
        await printing.settle()
        os.close(ours)


def _first(read: Callable[[], bytes]) -> bytes:
    return read()


def _nothing() -> None:
    """There is no command to end."""


def _refuse(read: Callable[[], bytes]) -> None:
    raise RepositoryBroken(str(len(read())))
