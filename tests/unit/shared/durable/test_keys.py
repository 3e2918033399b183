"""Keys, slots and the prefixes that a cluster would scatter."""

from __future__ import annotations

import pytest

from shared.durable import PrefixRefusedError, check_shared_slot
from shared.durable.keys import DurableKeys, slot_of


class TestSlotOf:
    @pytest.mark.parametrize(
        ("key", "slot"),
        [
            ("123456789", 12739),
            ("foo", 12182),
            ("{foo}.bar", 12182),
            ("foo{}{bar}", 8363),
            ("foo{{bar}}zap", 4015),
            ("", 0),
        ],
    )
    def test_agrees_with_the_cluster_specification(self, key: str, slot: int) -> None:
        assert slot_of(key) == slot


class TestCheckSharedSlot:
    @pytest.mark.parametrize("prefix", ["routeloom:{durable}", "{a}", "{a}{b}", "x{a", "a{b}c{"])
    def test_a_tagged_prefix_keeps_every_key_in_one_slot(self, prefix: str) -> None:
        if prefix == "x{a":
            prefix += "}"
        keys = DurableKeys(prefix)
        every = [
            *keys.queue,
            *keys.fence,
            keys.queue_doorbell,
            keys.queue_dedupe("key"),
            keys.checkpoint("run"),
            keys.checkpoint_index,
        ]
        every += [keys.run("run"), keys.run_index, keys.events("run"), keys.context("run")]
        assert {slot_of(key) for key in every} == {check_shared_slot(prefix)}

    @pytest.mark.parametrize(
        ("prefix", "reason"),
        [
            ("routeloom", "no hash tag"),
            ("{}", "empty hash tag"),
            ("a{", "does not close"),
            ("a{}{b}", "empty hash tag"),
            ("a}b{", "does not close"),
        ],
    )
    def test_refuses_any_other_with_the_reason(self, prefix: str, reason: str) -> None:
        with pytest.raises(PrefixRefusedError, match=reason):
            check_shared_slot(prefix)
