"""What two people wrote of one thing."""

from __future__ import annotations

from control_server.policy.rules.conflicts import reconciled, remembered
from control_server.policy.schemas import FactForm


class Form(FactForm):
    site: str = ""
    mtu: str = ""
    note: str = ""


def test_what_only_they_changed_is_theirs_and_the_rest_is_yours() -> None:
    first = remembered(Form(version=1, site="Paris", mtu="1420", note="old"))
    typed = first.model_copy(update={"mtu": "1400", "note": "mine"})
    current = Form(version=2, site="Lyon", mtu="1420", note="theirs")
    form, conflicts = reconciled(typed, current)
    assert (form.version, form.site, form.mtu, form.note) == (2, "Lyon", "1400", "mine")
    assert [(c.field, c.yours, c.theirs, c.before) for c in conflicts] == [
        ("site", "Paris", "Lyon", "Paris"),
        ("mtu", "1400", "1420", "1420"),
        ("note", "mine", "theirs", "old"),
    ]


def test_without_a_memory_everything_typed_stays() -> None:
    for was in ("", "{", "[]", "7"):
        form, conflicts = reconciled(
            Form(version=1, site="Paris", was=was), Form(version=2, site="Lyon", mtu="9")
        )
        assert (form.version, form.site, form.mtu) == (2, "Paris", "")
        assert [c.before for c in conflicts] == [None, None]


def test_sent_again_the_form_is_about_what_is_there_now() -> None:
    form, _ = reconciled(Form(version=1, site="Paris"), Form(version=2, site="Lyon"))
    again, _ = reconciled(form, Form(version=3, site="Nice"))
    assert (again.version, again.site) == (3, "Paris")
