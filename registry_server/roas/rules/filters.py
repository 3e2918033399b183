"""The filter files: which prefixes may have a ROA, and how long an announcement may be."""

from __future__ import annotations

from collections.abc import Sequence

from registry_server.objects.rules.grammar import quote
from registry_server.objects.rules.numbers import PrefixRefused, parse_prefix
from registry_server.objects.schemas import Prefix
from registry_server.roas.schemas import Action, FilterRule, RoaProblem, RoaProblemCode

PATHS = {4: "data/filter.txt", 6: "data/filter6.txt"}
_BITS = {4: 32, 6: 128}
_COLUMNS = 5


def parse_filter(raw: bytes, family: int) -> tuple[list[FilterRule], list[RoaProblem]]:
    """Read one file: number, action, prefix, shortest, longest; sorted by number. A bad line is left out.

    A line left out may have been one that denies, so each is reported.
    """
    rules, problems = [], []
    for place, line in enumerate(raw.decode(errors="replace").splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        rule = _read(text.split(), family)
        if rule is None:
            detail = f"line {place} is not a rule: {quote(text)}"
            problems.append(RoaProblem(RoaProblemCode.BAD_RULE, PATHS[family], detail))
        else:
            rules.append(rule)
    rules.sort(key=lambda each: each.number)
    return rules, problems


def _read(columns: Sequence[str], family: int) -> FilterRule | None:
    if len(columns) < _COLUMNS:
        return None
    number, action, text, *lengths = columns[:_COLUMNS]
    digits = (number, *lengths)
    if action not in set(Action) or not all(each.isascii() and each.isdigit() for each in digits):
        return None
    try:
        block = parse_prefix(text)
    except PrefixRefused:
        return None
    shortest, longest = int(lengths[0][:4]), int(lengths[1][:4])
    if block.family != family or not shortest <= longest <= _BITS[family]:
        return None
    return FilterRule(int(number[:9]), Action(action), block, shortest, longest)


def find_rule(rules: Sequence[FilterRule], prefix: Prefix) -> FilterRule | None:
    """The first rule in whose block the whole prefix lies.

    So a prefix that reaches beyond a denied block is permitted by the rule around both, also for the part
    that is denied: the files say what may be announced, not what may be covered.
    """
    for rule in rules:
        if rule.block.first <= prefix.first and prefix.last <= rule.block.last:
            return rule
    return None
