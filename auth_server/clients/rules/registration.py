"""What a registration may say; the same for our own clients as for everybody's."""

from __future__ import annotations

from auth_server.clients.errors import RegistrationRefused
from auth_server.clients.rules import addresses
from auth_server.clients.schemas import ALL_SCOPES, ClientRegistration
from shared.kernel.errors import FieldError

_ADDRESS = "An address is https, or http on loopback, without user and fragment."
_BACK_CHANNEL = "The back-channel address is https, or http on loopback, without query and fragment."


def check_registration(wanted: ClientRegistration) -> None:
    """Raises RegistrationRefused with a field error for everything that is not acceptable."""
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
    if not set(wanted.scopes) <= set(ALL_SCOPES):
        refused.append(FieldError("scopes", "scope_unknown", "There is no such scope."))
    if refused:
        raise RegistrationRefused(fields=refused)
