"""What the benchmark of reads sends, and how it tells what came of it."""

from __future__ import annotations

from tests.benchmarks.bench_reads import told
from tests.benchmarks.http_load import Rate, get


def test_a_line_names_the_ratio_of_processor_time() -> None:
    line = told("health", 512, {"ours": Rate(1, 300.0), "bare": Rate(1, 1000.0)})
    assert line.split()[:4] == ["health", "512", "bytes", "300"]
    assert line.split()[-4:] == ["bare", "1000,", "ratio", "0.30"]


def test_a_request_carries_its_headers_and_ends_with_an_empty_line() -> None:
    asked = get("http://localhost:8420/api/v1/nodes", {"Authorization": "Bearer x"})
    assert asked.decode().splitlines() == [
        "GET /api/v1/nodes HTTP/1.1",
        "Host: localhost:8420",
        "Authorization: Bearer x",
        "",
    ]
    assert get("http://localhost/").endswith(b"Host: localhost\r\n\r\n")
