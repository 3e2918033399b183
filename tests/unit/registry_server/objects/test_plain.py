"""The short road decides nothing otherwise than the long one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry_server.objects.rules import rows
from registry_server.objects.schemas import FileVersion, IndexRows
from registry_server.samples.schemas import SamplePlan
from registry_server.samples.service import imagine
from tests.integration.registry.network import FILES

SAMPLE, _ = imagine(SamplePlan(objects=400, commits=4, seed=7))
TEXTS = [(file.path, file.raw) for file in SAMPLE]
ODD = st.sampled_from(
    [
        b"",
        b" ",
        b"\t",
        b"\r",
        b"\0",
        b"#",
        b"\n",
        b"\n+",
        b":",
        b"\xff",
        "\u200b".encode(),
        b"AS0",
        b"ANY",
        b"x" * 300,
    ]
)


def index(files: list[FileVersion], patch: pytest.MonkeyPatch | None = None) -> IndexRows:
    if patch is not None:
        patch.setattr(rows, "read_plain", lambda *_: None)
    return rows.index_rows(files, 1)


def both(files: list[FileVersion]) -> tuple[IndexRows, IndexRows]:
    with pytest.MonkeyPatch.context() as patch:
        return index(files), index(files, patch)


def version(path: bytes, text: bytes, mode: str = "100644") -> FileVersion:
    return FileVersion(path, mode, "b", text)


class TestReadPlain:
    def test_says_of_a_whole_registry_what_the_long_road_says(self) -> None:
        files = [version(path, text) for path, text in TEXTS]
        files += [
            version(path if isinstance(path, bytes) else path.encode(), text)
            for path, text in FILES.items()
            if isinstance(text, bytes)
        ]
        short, long = both(files)
        assert short == long

    def test_takes_nearly_all(self) -> None:
        taken = [rows._store_plain(IndexRows(), version(path, text), 1) for path, text in TEXTS]
        assert sum(taken) > 0.8 * len(taken)

    @settings(max_examples=300)
    @given(
        file=st.sampled_from(TEXTS),
        at=st.floats(0, 1),
        taken=st.integers(0, 3),
        odd=ODD,
        mode=st.sampled_from(["100644", "100755"]),
    )
    def test_has_a_doubt_wherever_a_text_was_changed_for_the_worse(
        self, file: tuple[bytes, bytes], at: float, taken: int, odd: bytes, mode: str
    ) -> None:
        path, text = file
        place = int(at * len(text))
        short, long = both([version(path, text[:place] + odd + text[place + taken :], mode)])
        assert short == long

    @settings(max_examples=200)
    @given(first=st.sampled_from(TEXTS), second=st.sampled_from(TEXTS))
    def test_nor_is_it_misled_by_two_objects_in_one_file(
        self, first: tuple[bytes, bytes], second: tuple[bytes, bytes]
    ) -> None:
        short, long = both([version(first[0], first[1] + second[1]), version(first[0], second[1])])
        assert short == long
