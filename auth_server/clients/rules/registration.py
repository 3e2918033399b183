"""What a registration may say; the same for our own clients as for everybody's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from auth_server.clients.errors import RegistrationRefused
from auth_server.clients.rules import addresses
from auth_server.clients.schemas import ALL_SCOPES, ClientRegistration, GrantType
from shared.kernel.errors import FieldError
from shared.kernel.proofs import KeyRefused, import_public_key

#: A modulus of 16 384 bits has 2 731 characters; certificates are longer.
_LONGEST_MEMBER = 8192
_ADDRESS = "An address is https, or http on loopback, without user and fragment."
_KEY = "A key is a public JWK: P-256, Ed25519, or RSA of at least 2048 bits."
_SERVICE = "A client that acts on its own has a role, and a secret or keys."
_BACK_CHANNEL = "The back-channel address is https, or http on loopback, without query and fragment."


def check_registration(wanted: ClientRegistration, *, confidential: bool) -> None:
    """Raises RegistrationRefused with a field error for everything that is not acceptable."""
    refused = [*_refused_addresses(wanted), *_refused_grants(wanted, confidential=confidential)]
    if not set(wanted.scopes) <= set(ALL_SCOPES):
        refused.append(FieldError("scopes", "scope_unknown", "There is no such scope."))
    if not all(_is_public_key(key) for key in wanted.public_keys):
        refused.append(FieldError("public_keys", "key_not_acceptable", _KEY))
    if refused:
        raise RegistrationRefused(fields=refused)


def _refused_grants(wanted: ClientRegistration, *, confidential: bool) -> list[FieldError]:
    refused = []
    if GrantType.AUTHORIZATION_CODE in wanted.grant_types and not wanted.redirect_uris:
        refused.append(FieldError("redirect_uris", "address_missing", "Name where people are sent back to."))
    if GrantType.CLIENT_CREDENTIALS in wanted.grant_types and not (confidential and wanted.role):
        refused.append(FieldError("role", "service_incomplete", _SERVICE))
    return refused


def _is_public_key(jwk: Mapping[str, Any]) -> bool:
    """A key that verifies, without members that no database keeps."""
    if not all(_is_plain(value) for value in jwk.values()):
        return False
    try:
        import_public_key(jwk)
    except KeyRefused:
        return False
    return True


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) and _is_plain(item) for item in value)
    return isinstance(value, bool) or (
        isinstance(value, str) and len(value) <= _LONGEST_MEMBER and value.isprintable()
    )


def _refused_addresses(wanted: ClientRegistration) -> list[FieldError]:
    refused = [
        FieldError(field, "address_not_acceptable", _ADDRESS)
        for field in ("redirect_uris", "post_logout_redirect_uris")
        if not all(addresses.is_acceptable(uri, native=wanted.native) for uri in getattr(wanted, field))
    ]
    back = wanted.backchannel_logout_uri
    if back is not None and not addresses.is_acceptable_for_us(back):
        refused.append(FieldError("backchannel_logout_uri", "address_not_acceptable", _BACK_CHANNEL))
    if not all(addresses.is_origin(origin) for origin in wanted.origins):
        refused.append(FieldError("origins", "origin_not_acceptable", "An origin is scheme, host and port."))
    return refused
