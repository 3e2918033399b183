import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.web.audit.rules import COLUMNS, changes, export_head, export_line
from shared.web.audit.schemas import AuditEventRead, AuditFilter, ExportForm


def event(**changed: Any) -> AuditEventRead:
    facts: dict[str, Any] = {
        "id": 7,
        "at": datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC),
        "actor_kind": "person",
        "actor_id": "person:vera",
        "actor_name": "Vera",
        "action": "node.changed",
        "object_type": "node",
        "object_id": "fra1",
        "from_address": "192.0.2.1",
        "request_id": "r1",
        "before": {"site": "Offenbach"},
        "after": {"site": "Frankfurt"},
    }
    return AuditEventRead.model_validate({**facts, **changed})


class TestChanges:
    def test_names_what_differs(self) -> None:
        assert changes({"site": "A", "same": 1}, {"site": "B", "same": 1}) == [("site", "A", "B")]

    def test_tells_what_came_and_what_went(self) -> None:
        assert changes(None, {"labels": {"b": 1, "a": "ü"}}) == [("labels", "", '{"a": "ü", "b": 1}')]
        assert changes({"name": "x"}, None) == [("name", "x", "")]
        assert changes(None, None) == []


class TestExport:
    def test_a_line_of_csv_reads_back(self) -> None:
        text = export_head(ExportForm.CSV) + export_line(event(actor_name='a "b",\nc'), ExportForm.CSV)
        head, row = csv.reader(io.StringIO(text))
        assert tuple(head) == COLUMNS
        read = dict(zip(head, row, strict=True))
        assert read["actor_name"] == 'a "b",\nc'
        assert json.loads(read["after"]) == {"site": "Frankfurt"}

    @pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
    def test_no_cell_is_a_formula(self, begin: str) -> None:
        row = export_line(event(object_id=f"{begin}cmd|' /C calc'!A0"), ExportForm.CSV)
        assert next(csv.reader(io.StringIO(row)))[COLUMNS.index("object_id")].startswith("'")

    def test_a_line_of_json_is_one_event(self) -> None:
        line = export_line(event(), ExportForm.JSONL)
        assert line.endswith("}\n")
        assert AuditEventRead.model_validate_json(line) == event()


class TestFilter:
    def test_a_date_ends_with_its_day(self) -> None:
        wanted = AuditFilter.model_validate({"since": "2030-01-02", "until": "2030-01-02"})
        assert wanted.since == datetime(2030, 1, 2, tzinfo=UTC)
        assert wanted.until == datetime(2030, 1, 3, tzinfo=UTC)

    def test_an_instant_is_taken_as_it_is(self) -> None:
        wanted = AuditFilter.model_validate({"until": "2030-01-02T03:04:05+02:00"})
        assert wanted.until == datetime(2030, 1, 2, 1, 4, 5, tzinfo=UTC)

    @pytest.mark.parametrize("value", ["yesterday", "2030-13-01", "2030-01-0x"])
    def test_anything_else_is_refused(self, value: str) -> None:
        for name in ("since", "until"):
            with pytest.raises(ValueError, match=name):
                AuditFilter.model_validate({name: value})

    def test_empty_fields_ask_for_nothing(self) -> None:
        assert AuditFilter.model_validate({"since": "", "until": "", "actor": ""}) == AuditFilter()
