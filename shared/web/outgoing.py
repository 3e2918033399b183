"""HTTP from one service to another."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


def service_client(seconds: float) -> httpx2.AsyncClient:
    """Takes no proxy from the environment: services reach each other directly."""
    return httpx2.AsyncClient(verify=_authorities(), timeout=seconds, trust_env=False)


@cache
def _authorities() -> ssl.SSLContext:
    """The system's authorities, or those of `SSL_CERT_FILE`; reading them takes 20 ms, so once a process."""
    return ssl.create_default_context()
