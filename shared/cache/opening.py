"""`open_cache`: from settings to a tier that is ready to be used. Nothing connects until the first call."""

from __future__ import annotations

import ssl
from dataclasses import replace

from shared.cache.cache import Cache
from shared.cache.errors import TierMisconfigured
from shared.cache.exchange import Transport
from shared.cache.gateway import Gateway
from shared.cache.hub import HubPolicy
from shared.cache.observer import CacheObserver, Unobserved
from shared.cache.sentinel import SentinelLocator
from shared.cache.settings import TierSettings
from shared.cache.tier import DEADLINES, Tier
from shared.cache.transport import Endpoint


def open_cache(
    settings: TierSettings,
    tier: Tier,
    service: str,
    database: int,
    observer: CacheObserver | None = None,
) -> Cache:
    """Build a tier for a service. `database` is the service's own, unless the URL names another."""
    observer = observer or Unobserved()
    if settings.url is None:
        return Cache.unconfigured(tier, observer)
    endpoint = _endpoint(settings, tier, service, database)
    deadline = settings.deadline or DEADLINES[tier]
    transport = Transport(tier, endpoint, settings.pool_size)
    return Cache(
        Gateway(tier, transport, deadline, observer),
        database=endpoint.database,
        namespace=settings.namespace,
        hub_policy=HubPolicy(heartbeat=settings.heartbeat, reply_within=settings.heartbeat_reply_within),
    )


def tls_context(settings: TierSettings) -> ssl.SSLContext:
    """One context for all connections: certificates are read once, host names always checked."""
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise TierMisconfigured("tls_certificate and tls_key are set together or not at all")
    try:
        context = ssl.create_default_context(cafile=settings.tls_ca)
    except OSError as error:
        raise TierMisconfigured(f"{settings.tls_ca} (tls_ca) is no certificate: {_why(error)}") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if settings.tls_certificate is not None:
        try:
            context.load_cert_chain(settings.tls_certificate, settings.tls_key)
        except OSError as error:
            pair = f"{settings.tls_certificate} and {settings.tls_key} (tls_certificate, tls_key)"
            raise TierMisconfigured(f"{pair} are no certificate and its key: {_why(error)}") from error
    return context


def check_tiers(settings: object) -> None:
    """Raises TierMisconfigured for what `open_cache` would refuse of a service's tiers, naming the tier."""
    for tier in Tier:
        found = getattr(settings, tier.value, None)
        if isinstance(found, TierSettings) and found.url is not None:
            try:
                _endpoint(found, tier, "check", 0)
            except TierMisconfigured as refusal:
                raise TierMisconfigured(f"{tier}: {refusal.detail}") from None


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _endpoint(settings: TierSettings, tier: Tier, service: str, database: int) -> Endpoint:
    address = settings.address()
    endpoint = Endpoint(
        host=address.host,
        port=address.port,
        database=database if address.database is None else address.database,
        client_name=f"routeloom:{service}:{tier}",
        username=address.username,
        password=address.password,
        tls=tls_context(settings) if address.tls else None,
    )
    if settings.sentinel is None:
        return endpoint
    return replace(endpoint, locate=_locator(settings, tier, endpoint).locate)


def _locator(settings: TierSettings, tier: Tier, master: Endpoint) -> SentinelLocator:
    sentinel = settings.sentinel
    if sentinel is None:
        raise ValueError("no sentinels are set")
    password = sentinel.password.get_secret_value() if sentinel.password else None
    endpoints = [
        replace(master, host=host, port=port, database=0, username=sentinel.username, password=password)
        for host, port in sentinel.endpoints()
    ]
    return SentinelLocator(tier, endpoints, sentinel.service, settings.deadline or DEADLINES[tier])
