from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from shared.cache import (
    SentinelSettings,
    Tier,
    TierMisconfigured,
    TierSettings,
    check_tiers,
    open_cache,
)


def test_without_a_url_the_tier_is_not_configured() -> None:
    assert TierSettings().url is None
    assert TierSettings(url="").url is None


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "database"),
    [
        ("redis://cache.example", "cache.example", 6379, False, None),
        ("valkey://kv.example:7000/2", "kv.example", 7000, False, 2),
        ("rediss://:word@cache.example:6380", "cache.example", 6380, True, None),
        ("valkeys://me:w%40rd@[2001:db8::1]:7001/0", "2001:db8::1", 7001, True, 0),
        ("redis://[2001:db8::1]", "2001:db8::1", 6379, False, None),
    ],
)
def test_a_url_says_where_and_how(url: str, host: str, port: int, tls: bool, database: int | None) -> None:
    address = TierSettings(url=url).address()
    assert (address.host, address.port, address.tls, address.database) == (host, port, tls, database)


def test_credentials_are_decoded() -> None:
    address = TierSettings(url="valkeys://us%3Aer:w%40rd@kv.example").address()
    assert (address.username, address.password) == ("us:er", "w@rd")


@pytest.mark.parametrize(
    "url",
    [
        "http://sesame@cache.example",
        "redis://:sesame@",
        "redis://:sesame@cache.example/one",
        "redis://:sesame@cache.example:65536",
        "redis://:sesame@cache.example:port",
        "redis://:sesame@cache.example?db=1",
        "redis://user:sesame/word@cache.example",
    ],
)
def test_a_wrong_url_is_refused_without_being_repeated(url: str) -> None:
    settings = TierSettings(url=url)
    with pytest.raises(ValueError, match="URL") as raised:
        open_cache(settings, Tier.KV, "tests", 1)
    assert "sesame" not in f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"


def test_a_url_is_never_shown() -> None:
    settings = TierSettings(url="redis://:sesame@cache.example")
    assert "sesame" not in f"{settings!r} {settings} {settings.model_dump()} {settings.address()!r}"
    assert "sesame" not in settings.model_dump_json()


def test_a_certificate_comes_with_its_key() -> None:
    settings = TierSettings(url="rediss://cache.example", tls_certificate="client.pem")
    with pytest.raises(ValueError, match="together"):
        open_cache(settings, Tier.CACHE, "tests", 1)


@pytest.mark.parametrize("namespace", ["a:b", "a b", "a*", "点"])
def test_a_namespace_is_plain(namespace: str) -> None:
    with pytest.raises(ValidationError):
        TierSettings(namespace=namespace)


def test_sentinels_have_a_port_of_their_own() -> None:
    sentinel = SentinelSettings(addresses=["one.example", "[2001:db8::1]:26380"], service="kv")
    assert sentinel.endpoints() == [("one.example", 26_379), ("2001:db8::1", 26_380)]


def test_a_service_is_told_before_it_starts_which_tier_cannot_work(tmp_path: Path) -> None:
    missing = tmp_path / "missing.pem"
    good, secret = TierSettings(url="redis://:sesame@cache.example"), "http://:sesame@kv.example"
    check_tiers(SimpleNamespace(kv=TierSettings(), cache=good))
    check_tiers(SimpleNamespace(cache=good))
    for kv, said in (
        (TierSettings(url=secret), "kv: the URL of a tier begins with redis://"),
        (TierSettings(url="redis://[:sesame@kv.example"), "kv: the URL of a tier is scheme://"),
        (
            TierSettings(url="rediss://kv.example", tls_ca=missing),
            f"kv: {missing} (tls_ca) is no certificate",
        ),
    ):
        with pytest.raises(TierMisconfigured) as raised:
            check_tiers(SimpleNamespace(kv=kv, cache=good))
        assert raised.value.detail.startswith(said)
        assert "sesame" not in f"{raised.value!r} {raised.value.__cause__!r} {raised.value.__context__!r}"


@pytest.mark.parametrize("broken", ["tls_ca", "tls_certificate"])
def test_a_file_that_is_no_certificate_is_named(tmp_path: Path, broken: str) -> None:
    file = tmp_path / "empty.pem"
    file.write_text("not a certificate")
    files = {"tls_ca": file} if broken == "tls_ca" else {"tls_certificate": file, "tls_key": file}
    with pytest.raises(TierMisconfigured, match=str(file)):
        open_cache(TierSettings(url="rediss://cache.example", **files), Tier.CACHE, "tests", 1)


def test_a_sentinel_without_a_proper_address_is_refused() -> None:
    with pytest.raises(TierMisconfigured, match="host:port"):
        SentinelSettings(addresses=["one.example:port"], service="kv").endpoints()
