"""Which ROA follows from a route, and which does not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from registry_server.objects.schemas import Prefix
from registry_server.roas.rules.filters import find_rule
from registry_server.roas.schemas import DROPPING, Action, FilterRule, Roa, RoaProblem, RoaProblemCode
from registry_server.snapshot.schemas.content import Origin


def derive(
    origins: Iterable[Origin], rules: Mapping[int, Sequence[FilterRule]]
) -> tuple[list[Roa], list[RoaProblem]]:
    """All ROAs, sorted and each once, and all that a maintainer would want to know of the others."""
    roas: set[Roa] = set()
    problems: dict[RoaProblem, None] = {}
    judged: dict[tuple[str, int | None], int | None] = {}
    for origin in origins:
        prefix = origin.prefix
        key = (prefix.text, origin.max_length)
        if key not in judged:
            judged[key] = _judge(prefix, origin.max_length, rules[prefix.family], problems)
        longest = judged[key]
        if longest is not None:
            roas.add(Roa(prefix.family, prefix.first, prefix.length, origin.origin, longest, prefix.text))
    return sorted(roas), list(problems)


def _judge(
    prefix: Prefix,
    max_length: int | None,
    rules: Sequence[FilterRule],
    problems: dict[RoaProblem, None],
) -> int | None:
    """The longest announcement that a ROA of the prefix allows, or None where there is to be no ROA."""
    rule = find_rule(rules, prefix)
    found = list(_objections(prefix, max_length, rule))
    problems.update(dict.fromkeys(found))
    if rule is None or any(problem.code in DROPPING for problem in found):
        return None
    if max_length is None:
        return rule.longest
    return max(min(max_length, rule.longest), rule.shortest)


def _objections(prefix: Prefix, max_length: int | None, rule: FilterRule | None) -> Iterable[RoaProblem]:
    if rule is None:
        yield RoaProblem(RoaProblemCode.NO_RULE, prefix.text, "no rule of the filter speaks of it")
    elif rule.action is Action.DENY:
        detail = f"rule {rule.number} denies {rule.block.text}"
        yield RoaProblem(RoaProblemCode.DENIED, prefix.text, detail)
    else:
        yield from (RoaProblem(code, prefix.text, detail) for code, detail in _of_length(prefix, rule))
        if max_length is not None:
            found = _of_max_length(prefix, max_length, rule)
            yield from (RoaProblem(code, prefix.text, detail) for code, detail in found)


def _of_length(prefix: Prefix, rule: FilterRule) -> Iterable[tuple[RoaProblemCode, str]]:
    if prefix.length > rule.longest:
        yield RoaProblemCode.TOO_LONG, f"rule {rule.number} allows at most /{rule.longest}"
    if prefix.length < rule.shortest:
        yield RoaProblemCode.SHORTER_THAN_RULE, f"rule {rule.number} begins at /{rule.shortest}"


def _of_max_length(prefix: Prefix, max_length: int, rule: FilterRule) -> Iterable[tuple[RoaProblemCode, str]]:
    if max_length < prefix.length:
        detail = f"its max-length {max_length} is shorter than the prefix itself"
        yield RoaProblemCode.MAX_LENGTH_TOO_SHORT, detail
    elif max_length > rule.longest:
        detail = f"max-length {max_length} is lowered to {rule.longest} by rule {rule.number}"
        yield RoaProblemCode.MAX_LENGTH_LOWERED, detail
    elif max_length < rule.shortest:
        detail = f"max-length {max_length} is raised to {rule.shortest} by rule {rule.number}"
        yield RoaProblemCode.MAX_LENGTH_RAISED, detail
