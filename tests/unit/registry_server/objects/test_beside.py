"""Another process parses as this one does, and whatever becomes of it nothing is left behind."""

import asyncio
import io
import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion, IndexRows, Problem, ProblemCode
from registry_server.objects.store import beside, messages, parser
from registry_server.objects.store.beside import ParserLost, ParsingProcess, parsed_beside
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import imagine
from shared.testing.waiting import wait_until

SAMPLE, _ = imagine(SamplePlan(objects=300, commits=4, seed=3))
FILES = [FileVersion(file.path, "100644", "b" * 40, file.raw) for file in SAMPLE]
FILES += [
    FileVersion(
        b"data/mntner/BIG-MNT", "100644", "c" * 40, None, Problem(ProblemCode.FILE_TOO_LARGE, None, "x")
    ),
    FileVersion(b"data/mntner/\xff", "120000", "d" * 40, None, Problem(ProblemCode.NOT_A_FILE, None, "y")),
]
#: Tells the number of its process, which is busy, and waits for ever.
OWNER = """
import time
from registry_server.objects.schemas import FileVersion
from registry_server.objects.store.beside import ParsingProcess
process = ParsingProcess()
process.begin()
for _ in range(20):
    process.send(1, [FileVersion(b"data/mntner/FOO-MNT", "100644", "", b"mntner: FOO-MNT\\n")] * 20)
print(process._process.pid, flush=True)
time.sleep(60)
"""
Chunks = AsyncGenerator[Sequence[FileVersion], None]


async def in_chunks(size: int) -> Chunks:
    for at in range(0, len(FILES), size):
        yield FILES[at : at + size]


def together(parts: Sequence[IndexRows]) -> IndexRows:
    whole = IndexRows()
    for part in parts:
        for each in fields(IndexRows):
            setattr(whole, each.name, getattr(whole, each.name) + getattr(part, each.name))
    return whole


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ParsingProcess]:
    """Every process that was begun."""
    found: list[ParsingProcess] = []
    begin = ParsingProcess.__init__

    def noting(self: ParsingProcess) -> None:
        begin(self)
        found.append(self)

    monkeypatch.setattr(ParsingProcess, "__init__", noting)
    return found


@pytest.fixture
def begun_before_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has begun before the first files come."""
    send = beside.Parsing.send

    async def waiting(self: beside.Parsing, chunks: Chunks) -> None:
        await self._begun.wait()
        await send(self, chunks)

    monkeypatch.setattr(beside.Parsing, "send", waiting)


class TestParser:
    def test_numbers_objects_from_the_first_one_on(self) -> None:
        asked, told = io.BytesIO(), io.BytesIO()
        for some in (FILES[:100], FILES[100:]):
            messages.write(asked, (7, messages.pack_files(some)))
        asked.seek(0)
        parser.main(asked, told)
        told.seek(0)
        assert messages.read(told) is True
        rows = [messages.unpack_rows(messages.read(told) or []) for _ in range(2)]
        assert messages.read(told) is None
        assert together(rows) == index_rows(FILES, 7)

    def test_a_message_that_ends_in_the_middle_is_none(self) -> None:
        pipe = io.BytesIO()
        messages.write(pipe, "all of it")
        with pytest.raises(EOFError):
            messages.read(io.BytesIO(pipe.getvalue()[:-1]))


class TestParsedBeside:
    async def test_says_what_would_be_parsed_here(self, started: list[ParsingProcess]) -> None:
        async with parsed_beside(in_chunks(40), 1) as parsed:
            rows = [some async for some in parsed]
        assert together(rows) == index_rows(FILES, 1)
        assert started[0]._process.returncode == 0

    @pytest.mark.usefixtures("begun_before_the_first")
    async def test_so_does_the_process_alone(self) -> None:
        async with parsed_beside(in_chunks(40), 5) as parsed:
            rows = [some async for some in parsed]
        assert len(rows) > 1
        assert together(rows) == index_rows(FILES, 5)

    async def test_goes_on_before_anybody_asks(self, started: list[ParsingProcess]) -> None:
        async with parsed_beside(in_chunks(len(FILES)), 1) as parsed:
            await wait_until(lambda: started[0]._process.poll() == 0)
            assert [some.count async for some in parsed] == [index_rows(FILES, 1).count]

    async def test_hands_on_what_was_wrong_with_the_files(self) -> None:
        async def broken() -> Chunks:
            yield FILES[:10]
            raise EOFError

        with pytest.raises(EOFError):
            async with parsed_beside(broken(), 1) as parsed:
                [some async for some in parsed]

    @pytest.mark.usefixtures("begun_before_the_first")
    async def test_tells_that_the_process_was_lost(self, started: list[ParsingProcess]) -> None:
        async def endless() -> Chunks:
            while True:
                yield FILES[:40]

        with pytest.raises(ParserLost):
            async with parsed_beside(endless(), 1) as parsed:
                async for _ in parsed:
                    started[0]._process.kill()

    async def test_tells_that_there_was_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.executable", "/nonexistent/python")
        with pytest.raises(ParserLost):
            async with parsed_beside(in_chunks(40), 1):
                pass

    async def test_tells_of_one_that_could_not_begin(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.executable", "/bin/false")
        with pytest.raises(ParserLost):
            async with parsed_beside(in_chunks(40), 1) as parsed:
                [some async for some in parsed]

    async def test_leaves_no_process_where_nobody_takes_the_rows(self, started: list[ParsingProcess]) -> None:
        taking = asyncio.Event()

        async def work() -> None:
            async with parsed_beside(in_chunks(5), 1):
                taking.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(work())
        await taking.wait()
        await asyncio.sleep(0.2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert started[0]._process.returncode is not None

    async def test_the_process_knows_no_secrets(
        self, monkeypatch: pytest.MonkeyPatch, started: list[ParsingProcess]
    ) -> None:
        for name in ("ROUTELOOM_REGISTRY_MIRROR__WEBHOOK_SECRET", "REDIS_URL"):
            monkeypatch.setenv(name, "hidden")
        async with parsed_beside(in_chunks(5), 1) as parsed:
            known = Path(f"/proc/{started[0]._process.pid}/environ").read_bytes()
            assert b"hidden" not in known
            async for _ in parsed:
                pass

    async def test_the_process_ends_without_a_word_when_we_are_killed(self) -> None:
        owner = await asyncio.create_subprocess_exec(
            sys.executable, "-c", OWNER, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        assert owner.stdout is not None
        assert owner.stderr is not None
        try:
            pid = int(await owner.stdout.readline())
            process = Path(f"/proc/{pid}/cmdline")
            assert b"registry_server.objects.store.parser" in process.read_bytes()
        finally:
            owner.kill()
            await owner.wait()
        # Both write there, so it ends with the last of them.
        async with asyncio.timeout(10):
            assert await owner.stderr.read() == b""
        await wait_until(lambda: not process.exists() or not process.read_bytes())
