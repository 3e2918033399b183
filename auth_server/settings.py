"""Settings of auth_server: `ROUTELOOM_AUTH_…` variables and an optional TOML file, built once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import ClassVar, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from shared.cache import TierSettings
from shared.database import DatabaseSettings
from shared.web.settings import SettingsFromEnvironment, WebSettings

UNCONFIGURED = TierSettings.model_validate({})


class SignInSettings(BaseModel):
    """Sessions, invitations and failed attempts."""

    model_config = ConfigDict(frozen=True)

    session_idle: timedelta = Field(
        default=timedelta(days=7), description="A session unused for so long ends"
    )
    session_absolute: timedelta = Field(
        default=timedelta(days=30), description="A session ends so long after its last proof"
    )
    invitation_life: timedelta = Field(default=timedelta(hours=24), description="Life of an invitation")
    failures_per_account: int = Field(
        default=10, ge=1, description="Failed recovery codes of one account in 15 minutes"
    )
    failures_per_address: int = Field(
        default=30, ge=1, description="Failed sign-ins from one address (IPv6: one /64) in 15 minutes"
    )


class TokenSettings(BaseModel):
    """Lives of what clients are given."""

    model_config = ConfigDict(frozen=True)

    code_life: timedelta = Field(
        default=timedelta(seconds=120), le=timedelta(minutes=10), description="Life of an authorization code"
    )
    access_token_life: timedelta = Field(
        default=timedelta(minutes=10), le=timedelta(hours=24), description="Life of an access token"
    )
    id_token_life: timedelta = Field(
        default=timedelta(minutes=10), le=timedelta(hours=24), description="Life of an ID token"
    )
    refresh_idle: timedelta = Field(
        default=timedelta(days=14), description="A refresh token unused for so long ends"
    )
    refresh_absolute: timedelta = Field(
        default=timedelta(days=90),
        le=timedelta(days=110),
        description="Refreshing ends so long after the person agreed",
    )
    dpop_nonces: bool = Field(
        default=False,
        description="Proofs of keys (DPoP) must carry a nonce that this service gave out minutes before",
    )
    left_per_address: int = Field(
        default=300,
        ge=1,
        description="Requests that public clients push or begin for a device, from one address (IPv6: one "
        "/64) in 15 minutes",
    )
    consent_life: timedelta = Field(
        default=timedelta(days=180), description="A consent is remembered so long"
    )


class OwnershipSettings(BaseModel):
    """Proofs that somebody maintains an object of the registry."""

    model_config = ConfigDict(frozen=True)

    namespace: str = Field(
        default="routeloom-ownership",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$",
        description="Namespace of SSH signatures; one that no other program signs for",
    )
    challenge_life: timedelta = Field(
        default=timedelta(minutes=15),
        le=timedelta(minutes=55),
        description="A challenge must be signed within so long",
    )
    shared_maintainers: tuple[str, ...] = Field(
        default=("DN42-MNT", "DUMMY-MNT"),
        description="Maintainers that many people hold; they never prove ownership",
    )
    registry_seconds: float = Field(
        default=3.0, gt=0, le=10, description="The registry service must answer a question within so long"
    )
    check_every: timedelta = Field(
        default=timedelta(minutes=5), description="Each proof is compared with the registry so often"
    )
    believed_for: timedelta = Field(
        default=timedelta(hours=24),
        description="With the registry away, clients are told of a proof for so long after its last check",
    )


class AuthSettings(SettingsFromEnvironment):
    """Everything that auth_server can be told."""

    model_config = SettingsConfigDict(env_prefix="ROUTELOOM_AUTH_")
    table: ClassVar[str] = "auth"

    web: WebSettings = WebSettings(port=8421)
    database: DatabaseSettings
    kv: TierSettings = Field(default=UNCONFIGURED, description="Valkey; without a URL not configured")
    cache: TierSettings = Field(default=UNCONFIGURED, description="Redis; without a URL not configured")
    state_directory: Path = Field(description="Private directory for secrets and, in Lite, databases")
    fleet_name: str = Field(default="loom-net", max_length=40, description="Name shown on the pages")
    sign_in: SignInSettings = SignInSettings()
    tokens: TokenSettings = TokenSettings()
    ownership: OwnershipSettings = OwnershipSettings()
    registry_url: str = Field(
        default="",
        validation_alias="ROUTELOOM_REGISTRY_URL",
        description="Where this service reaches the registry service; by default the public address",
    )

    cap_url: str = Field(
        default="",
        description="Address of a Cap server, such as https://cap.example; empty for no captcha",
    )
    cap_verify_url: str = Field(
        default="",
        description="Where this service reaches that server to check a solution; by default the same address",
    )
    cap_site_key: str = Field(
        default="", pattern=r"^[A-Za-z0-9_-]{0,128}$", description="Site key of this site at the Cap server"
    )
    cap_secret: SecretStr = Field(default=SecretStr(""), description="Secret of that site key")
    captcha_after: int = Field(
        default=3,
        ge=0,
        description="So many failed sign-ins of an address make a captcha due for passkeys from there, too",
    )

    @model_validator(mode="after")
    def _whole_captcha(self) -> Self:
        given = (self.cap_url, self.cap_site_key, self.cap_secret.get_secret_value())
        if any(given) and not all(given):
            message = "a captcha needs its address, site key and secret"
            raise ValueError(message)
        if any(url and not _is_base_address(url) for url in (self.cap_url, self.cap_verify_url)):
            message = "the address of the captcha is no http or https address without query and fragment"
            raise ValueError(message)
        return self

    @property
    def issuer(self) -> str:
        """Who signs: configuration, never a request's Host."""
        return f"{self.web.public_url}/auth"

    @property
    def api_audience(self) -> str:
        """Whom access tokens with a scope of the API are meant for."""
        return f"{self.web.public_url}/api"


def _is_base_address(text: str) -> bool:
    parts = urlsplit(text)
    plain = text.isascii() and not set(text) & set(" ;,'\"\\<>")
    return plain and parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query
