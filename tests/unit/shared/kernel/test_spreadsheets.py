"""Lines of comma-separated values."""

import pytest

from shared.kernel.spreadsheets import line_of


def test_values_are_written_as_a_spreadsheet_reads_them() -> None:
    assert line_of(["a,b", None, 'say "so"', 1.5, True, {"k": "v"}]) == (
        '"a,b",,"say ""so""",1.5,true,"{""k"": ""v""}"\r\n'
    )


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_text_is_a_formula(text: str) -> None:
    assert line_of([text]).lstrip('"').startswith("'")


def test_a_number_below_zero_stays_a_number() -> None:
    assert line_of([-1]) == "-1\r\n"
