"""Valkey and Redis are reached from three modules, by declared keys, and nothing is stored without an end."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from shared.cache import KeyFamily, Kind, Tier
from tests.architecture.tree import SERVICES, dotted, files, imported_names, parsed, product_modules

CLIENTS = {"redis", "valkey", "hiredis", "libvalkey"}
CLIENT_MODULES = {"shared.cache.clients", "shared.runtime_state.redis_backend", "shared.durable.client"}
CACHE = Path("shared/cache")
# What neither creates a key nor prolongs one. Every other public method takes its TTL from the caller, but
# for the one counter that lives for ever.
WRITE_NOTHING = {
    "get_json",
    "get_many_json",
    "take_json",
    "read_list",
    "read_log",
    "read_counter",
    "delete",
    "publish",
    "subscribe",
    "scan_count",
    "survey",
    "names",
    "info",
    "server_time",
    "aclose",
    "unconfigured",
}
WITHOUT_END = {"bump_version"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def cache_classes() -> dict[str, ast.ClassDef]:
    modules = (path for path in files(".py") if path.is_relative_to(CACHE))
    return {
        node.name: node
        for module in modules
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ClassDef)
    }


def methods(name: str, classes: dict[str, ast.ClassDef]) -> Iterator[Function]:
    """The methods of a class and of its bases inside the package."""
    if name not in classes:
        return
    yield from (node for node in classes[name].body if isinstance(node, Function))
    for base in classes[name].bases:
        if isinstance(base, ast.Name):
            yield from methods(base.id, classes)


def is_property(method: Function) -> bool:
    return any(isinstance(mark, ast.Name) and "property" in mark.id for mark in method.decorator_list)


def demands_a_ttl(method: Function) -> bool:
    keywords = zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    return any(argument.arg == "ttl_seconds" and default is None for argument, default in keywords)


def arguments_with_default(function: Function) -> set[str]:
    positional = [*function.args.posonlyargs, *function.args.args]
    optional = positional[len(positional) - len(function.args.defaults) :]
    keywords = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    optional += [argument for argument, default in keywords if default is not None]
    return {argument.arg for argument in optional}


def declares(path: Path, name: str) -> bool:
    """Whether a call of this name declares a family; a service's own short forms stand in its keys.py."""
    return name == "KeyFamily" or path.name == "keys.py"


def declared_heads() -> set[str]:
    """The literal beginnings of every declared key pattern."""
    heads = set()
    for path in product_modules():
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and declares(path, node.func.id)
            ):
                patterns = [keyword.value for keyword in node.keywords if keyword.arg == "pattern"]
                heads |= {
                    each.value.split("<")[0]
                    for each in patterns
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                }
    return {head for head in heads if ":" in head}


def strings_in_code(path: Path) -> Iterator[ast.Constant]:
    """String constants, also inside f-strings, that are no docstring."""
    tree = parsed(path)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


def test_only_three_modules_import_a_client() -> None:
    elsewhere = [
        f"{path} imports {name}"
        for path in product_modules()
        for name in imported_names(path)
        if name.split(".")[0] in CLIENTS and dotted(path) not in CLIENT_MODULES
    ]
    assert not elsewhere


def test_every_write_of_the_cache_names_its_ttl() -> None:
    classes = cache_classes()
    assert "Cache" in classes
    without = [
        method.name
        for method in methods("Cache", classes)
        if not method.name.startswith("_")
        and not is_property(method)
        and method.name not in WRITE_NOTHING | WITHOUT_END
        and not demands_a_ttl(method)
    ]
    assert not without, "these take no keyword-only ttl_seconds, or give it a default"


def test_no_ttl_in_the_cache_package_has_a_default() -> None:
    generous = [
        f"{path}:{node.lineno} {node.name}"
        for path in files(".py")
        if path.is_relative_to(CACHE)
        for node in ast.walk(parsed(path))
        if isinstance(node, Function) and "ttl_seconds" in arguments_with_default(node)
    ]
    assert not generous


def test_keys_are_declared_only_in_keys_modules() -> None:
    elsewhere = [
        f"{path}:{node.lineno}"
        for path in product_modules()
        if path.name != "keys.py" and not path.is_relative_to("shared/testing")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"KeyFamily", "Key"}
    ]
    assert not elsewhere


def test_no_key_is_spelled_outside_its_declaration() -> None:
    heads = declared_heads()
    spelled = [
        f"{path}:{node.lineno} {node.value!r}"
        for path in product_modules()
        if path.name != "keys.py"
        for node in strings_in_code(path)
        if any(str(node.value).startswith(head) for head in heads)
    ]
    assert not spelled


def test_scripts_touch_only_the_keys_they_are_given() -> None:
    """A key built inside a script would be invisible to the declarations and break in a cluster."""
    building = re.compile(r"redis\.p?call\(\s*['\"](?!X?INFO\b)\w+['\"]\s*,\s*['\"]")
    guilty = [str(path) for path in files(".lua") if building.search(path.read_text(encoding="utf-8"))]
    assert not guilty


def declared_families() -> list[tuple[str, KeyFamily]]:
    return [
        (service, family)
        for service in SERVICES
        if (Path(service) / "keys.py").exists()
        for family in import_module(f"{service}.keys").REGISTRY
    ]


@pytest.mark.parametrize(("service", "family"), declared_families(), ids=lambda each: str(each)[:40])
def test_every_family_says_who_writes_it_why_and_what_its_loss_costs(service: str, family: KeyFamily) -> None:
    assert family.writer
    assert family.purpose
    assert family.loss
    if family.tier is Tier.KV and family.kind is not Kind.CHANNEL:
        assert family.ttl is not None, "a key of the kv tier without an end takes space from the captcha"
        assert family.restart, "what is there after a restart of the tier"
    if family.kind in {Kind.LIST, Kind.LOG}:
        assert family.cap is not None


def test_each_database_of_a_tier_has_one_owner() -> None:
    owners: dict[tuple[Tier, int], set[str]] = {}
    for service, family in declared_families():
        owners.setdefault((family.tier, family.database), set()).add(service)
    assert all(len(services) == 1 for services in owners.values()), owners


def test_the_key_index_of_the_tiers_is_declared() -> None:
    """The families that have a feature; the others are declared with theirs."""
    names = {family.name for _, family in declared_families()}
    assert names >= {
        *("agent:live", "ws:sub", "evt:node", "probe:job", "probe:buf", "probe:msg"),
        *("portal:login", "agtok", "regname", "throttle:login"),
        *("oauth:code", "oauth:code:used", "auth:ceremony"),
        *("reg:ver", "reg:asn", "reg:mntner", "reg:routes"),
    }
