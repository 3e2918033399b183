import pytest

from shared.cache import Reason
from shared.cache.replies import DEAD, ErrorReply, reason_on_opening


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("OOM command not allowed when used memory > 'maxmemory'.", Reason.CAPACITY),
        ("MISCONF Valkey is configured to save RDB snapshots", Reason.WRITES_REFUSED),
        ("READONLY You can't write against a read only replica.", Reason.WRITES_REFUSED),
        ("MASTERDOWN Link with MASTER is down", Reason.WRITES_REFUSED),
        ("CLUSTERDOWN The cluster is down", Reason.WRITES_REFUSED),
        ("NOREPLICAS Not enough good replicas to write.", Reason.WRITES_REFUSED),
        ("LOADING Redis is loading the dataset in memory", Reason.BUSY),
        ("BUSY Redis is busy running a script", Reason.BUSY),
        ("TRYAGAIN Multiple keys request during rehashing of slot", Reason.BUSY),
        ("NOAUTH Authentication required.", Reason.CONFIGURATION),
        ("WRONGPASS invalid username-password pair", Reason.CONFIGURATION),
        ("NOPERM this user has no permissions", Reason.CONFIGURATION),
        ("WRONGTYPE Operation against a key holding the wrong kind", Reason.WRONG_TYPE),
        ("NOSCRIPT No matching script.", Reason.NO_SCRIPT),
        ("ERR OOM is only mentioned here", Reason.REFUSED),
        ("OOMPH is another word", Reason.REFUSED),
        ("", Reason.REFUSED),
    ],
)
def test_the_first_word_decides(text: str, reason: Reason) -> None:
    assert ErrorReply(text).reason is reason


def test_a_full_or_read_only_server_is_not_dead() -> None:
    assert not DEAD & {Reason.CAPACITY, Reason.WRITES_REFUSED, Reason.WRONG_TYPE, Reason.REFUSED}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ERR max number of clients reached", Reason.CONNECTION),
        ("ERR max number of clients + cluster connections reached", Reason.CONNECTION),
        ("ERR DB index is out of range", Reason.CONFIGURATION),
        ("ERR AUTH <password> called without any password configured", Reason.CONFIGURATION),
        ("LOADING Redis is loading the dataset in memory", Reason.BUSY),
    ],
)
def test_an_error_on_opening_is_about_how_we_are_configured(text: str, reason: Reason) -> None:
    assert reason_on_opening(ErrorReply(text)) is reason
