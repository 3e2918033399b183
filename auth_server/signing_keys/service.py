"""Signing and verifying with staged keys, which are rotated while every living token stays verifiable."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeyParameters, RSAKey

from auth_server.audit.service import Audit
from auth_server.signing_keys.errors import NextKeyTooYoung, SigningKeyNotFound
from auth_server.signing_keys.models import SigningKey
from auth_server.signing_keys.repository import SigningKeyRepository
from auth_server.signing_keys.rules import sign_compact
from auth_server.signing_keys.schemas import Algorithm, OpenedKey, Stage
from auth_server.signing_keys.store import OpenedKeys, Seal
from shared.kernel.clock import Clock
from shared.kernel.principal import Principal

PrivateKey = ECKey | RSAKey

_RSA_BITS = 2048
_PURPOSE = "signing-key"
_KID = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
#: Twice as long as the published set may be cached.
PUBLISHED_BEFORE = timedelta(minutes=10)
#: Longer than any token lives, an ID token as logout hint included.
RETENTION = timedelta(days=120)


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Signing keys as one database session sees them."""

    keys: SigningKeyRepository
    opened: OpenedKeys
    now: Clock

    @property
    def seal(self) -> Seal:
        """What keeps texts of ours readable for this installation only."""
        return self.opened.get_seal()

    async def ensure(self) -> None:
        """Make the current and next key of every algorithm that lacks them; twice changes nothing."""
        for algorithm in Algorithm:
            for stage in (Stage.CURRENT, Stage.NEXT):
                if await self.keys.find_at(algorithm, stage) is None:
                    await self.keys.claim_stage(await self._make(algorithm, stage))
        self.opened.complete = True

    async def rotate(self) -> None:
        """Next becomes current, current becomes previous; a fresh next one is published for the next time."""
        await self.ensure()
        for algorithm in Algorithm:
            if await self.keys.claim_retirement(algorithm, self.now()):
                await self.keys.promote_next(algorithm)
                await self.keys.claim_stage(await self._make(algorithm, Stage.NEXT))
        await self.keys.forget_retired_before(self.now() - RETENTION)

    async def retire(self, kid: str) -> SigningKey:
        """Forget a key that others may have; its place is filled. Raises SigningKeyNotFound."""
        row = await self._find(kid)
        if row is None:
            raise SigningKeyNotFound
        algorithm, stage = Algorithm(row.algorithm), row.stage
        await self.keys.delete(kid)
        if stage == Stage.CURRENT:
            await self.keys.promote_next(algorithm)
        if stage != Stage.PREVIOUS:
            await self.ensure()
        return row

    async def public_keys(self) -> list[dict[str, Any]]:
        """The JWK Set's keys: public parts, of every stage."""
        return [key.public_jwk for key in await self.keys.list_all()]

    async def sign(self, claims: Mapping[str, Any], typ: str, algorithm: Algorithm = Algorithm.ES256) -> str:
        """A compact JWT by the algorithm's current key."""
        signer = self.opened.signing.find(algorithm, None) or await self._current(algorithm)
        return sign_compact(signer, claims, typ)

    async def _current(self, algorithm: Algorithm) -> OpenedKey:
        changes = self.opened.signing.changes
        row = await self.keys.find_at(algorithm, Stage.CURRENT)
        if row is not None:
            found = OpenedKey(row.kid, row.algorithm, self._private(row))
            self.opened.signing.keep(algorithm, found, changes)
            return found
        await self.ensure()
        row = await self.keys.find_at(algorithm, Stage.CURRENT)
        assert row is not None  # noqa: S101 - just made, and perhaps undone with this transaction: not kept
        return OpenedKey(row.kid, row.algorithm, self._private(row))

    async def verify(self, token: str, typ: str) -> dict[str, Any] | None:
        """The claims of a token of this type that one of our keys signed; its times are not looked at."""
        try:
            header = jws.extract_compact(token.encode()).headers()
            signer = await self._verifying(header.get("kid"))
            if signer is None or header.get("typ") != typ or header.get("alg") != signer.algorithm:
                return None
            return jwt.decode(token, signer.key, algorithms=[signer.algorithm]).claims
        except (JoseError, ValueError):
            return None

    async def _verifying(self, kid: object) -> OpenedKey | None:
        verifying = self.opened.verifying
        known, changes = verifying.find(str(kid), None), verifying.changes
        if known is not None:
            return known
        row = await self._find(kid)
        if row is None:
            return None
        found = OpenedKey(row.kid, row.algorithm, _public(row))
        verifying.keep(row.kid, found, changes)
        return found

    async def _find(self, kid: object) -> SigningKey | None:
        # A database refuses some characters; none of our ids has them.
        return await self.keys.find(kid) if isinstance(kid, str) and _KID.fullmatch(kid) else None

    def _private(self, row: SigningKey) -> PrivateKey:
        known = self.opened.by_kid.get(row.kid)
        if known is None:
            known = _imported(json.loads(self.seal.open(row.sealed_private_jwk, _PURPOSE)))
            self.opened.by_kid[row.kid] = known
        return known

    async def _make(self, algorithm: Algorithm, stage: Stage) -> SigningKey:
        key = await asyncio.to_thread(_generate, algorithm)
        return _row(key, algorithm, stage, self.seal, self.now())


@dataclass(frozen=True, slots=True)
class StandingKeys:
    """Keys for whoever has no session of the database: one is opened where a key is not known."""

    opened: OpenedKeys
    open: Callable[[], AbstractAsyncContextManager[KeyRing]]

    @property
    def seal(self) -> Seal:
        """What keeps texts of ours readable for this installation only."""
        return self.opened.get_seal()

    async def sign(self, claims: Mapping[str, Any], typ: str, algorithm: Algorithm = Algorithm.ES256) -> str:
        """A compact JWT by the algorithm's current key."""
        signing = self.opened.signing
        signer = signing.find(algorithm, None)
        if signer is None:
            async with signing.turn(algorithm):
                signer = signing.find(algorithm, None)
                if signer is None:
                    async with self.open() as ring:
                        return await ring.sign(claims, typ, algorithm)
        return sign_compact(signer, claims, typ)


@dataclass(frozen=True, slots=True)
class KeyAdministration:
    """What administrators do with signing keys; every worker signs by the new one from its next token on."""

    ring: KeyRing
    audit: Audit

    async def list(self) -> Sequence[SigningKey]:
        """Every key: those that sign first, then those that will, then those that did."""
        return await self.ring.keys.list_all()

    async def rotate(self, by: Principal, *, insist: bool = False) -> None:
        """Next becomes current and current previous. Raises NextKeyTooYoung unless told to insist."""
        waiting = [key for key in await self.list() if key.stage == Stage.NEXT]
        young = any(self.ring.now() - key.created_at < PUBLISHED_BEFORE for key in waiting)
        if young and not insist:
            raise NextKeyTooYoung
        await self.ring.rotate()
        current = [key.kid for key in await self.list() if key.stage == Stage.CURRENT]
        self.audit.note(by, "signing_keys.rotated", ("signing_keys", "all"), after={"current": current})

    async def retire(self, by: Principal, kid: str) -> None:
        """Forget a key that may be known to others. Raises SigningKeyNotFound."""
        row = await self.ring.retire(kid)
        after = {"stage": row.stage, "algorithm": row.algorithm}
        self.audit.note(by, "signing_key.retired", ("signing_key", kid), after=after)


def _row(key: PrivateKey, algorithm: Algorithm, stage: Stage, seal: Seal, at: datetime) -> SigningKey:
    return SigningKey(
        kid=str(key.kid),
        algorithm=algorithm,
        stage=stage,
        public_jwk=dict(key.as_dict(private=False)),
        sealed_private_jwk=seal.close(json.dumps(key.as_dict(private=True)), _PURPOSE),
        created_at=at,
        retired_at=None,
    )


def _generate(algorithm: Algorithm) -> PrivateKey:
    """A key whose thumbprint can be typed: one that begins with a dash is an option to a command line."""
    while True:
        key = _any(algorithm)
        if not str(key.kid).startswith("-"):
            return key


def _any(algorithm: Algorithm) -> PrivateKey:
    parameters: KeyParameters = {"use": "sig", "alg": algorithm.value}
    if algorithm is Algorithm.ES256:
        return ECKey.generate_key("P-256", parameters=parameters, private=True, auto_kid=True)
    return RSAKey.generate_key(_RSA_BITS, parameters=parameters, private=True, auto_kid=True)


def _imported(jwk: dict[str, Any]) -> PrivateKey:
    return ECKey.import_key(jwk) if jwk["kty"] == "EC" else RSAKey.import_key(jwk)


def _public(row: SigningKey) -> PrivateKey:
    return _imported(row.public_jwk)
