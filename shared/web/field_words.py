"""What a refused input means, said in the reader's language by its code.

The sentence that the server raised is English and for programs; pages speak by the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.kernel.errors import FieldError
from shared.web.translation import lazy as _

if TYPE_CHECKING:
    from shared.web.translation import Language

#: Codes of the validator, whose own words are not for people.
_OF_THE_VALIDATOR = {
    "missing": _("This is needed"),
    "too_short": _("Choose at least one"),
    "too_long": _("These are too many"),
    "string_too_short": _("This is too short"),
    "string_too_long": _("This is too long"),
    "string_pattern_mismatch": _("This is not in the form that is described"),
    "int_parsing": _("Write a whole number"),
    "int_type": _("Write a whole number"),
    "greater_than_equal": _("This is below the least value"),
    "less_than_equal": _("This is above the greatest value"),
    "literal_error": _("Choose one of the values offered"),
    "enum": _("Choose one of the values offered"),
    "uuid_parsing": _("This is not an id"),
    "datetime_parsing": _("This is not a date and time"),
    "datetime_from_date_parsing": _("This is not a date and time"),
    "timezone_aware": _("Say the time zone"),
    "ip_v4_address": _("Write an IPv4 address such as 172.20.99.1"),
    "ip_v6_address": _("Write an IPv6 address such as fd42:9900::1"),
    "ip_any_address": _("Write an address"),
    "ip_v4_network": _("Write IPv4 networks such as 172.20.99.0/26, with no bits behind the length"),
    "ip_v6_network": _("Write IPv6 networks such as fd42:9900::/48, with no bits behind the length"),
    "ip_any_network": _("Write networks such as 172.20.99.0/26, with no bits behind the length"),
}

#: Our own codes; English readers get the sentence that was raised, which says more.
_OURS = {
    "target_empty": _("Name an address or a host"),
    "target_too_long": _("A target has at most 253 characters"),
    "target_option": _("A target does not begin with a hyphen"),
    "target_not_ascii": _("Write an internationalised name in its ASCII form (xn--…)"),
    "target_characters": _("A target has no spaces and no control characters"),
    "target_zone": _("An address with a zone (%interface) cannot be probed"),
    "target_address": _("This is not an address in its usual form"),
    "target_not_canonical": _("Write the address in its canonical form (RFC 5952)"),
    "target_name": _("This is not a host name"),
    "target_refused": _("The policy of the fleet does not allow this target"),
    "family_mismatch": _("The target is of the other address family"),
    "too_many_nodes": _("These are more nodes than one probe may have"),
    "node_not_found": _("There is no such node"),
    "scope_beyond_role": _("A token cannot do more than your role"),
    "receiver_refused": _("This address may not be called"),
    "account_name_taken": _("Somebody else has this name"),
    "own_asn": _("That is the node's own AS number; own nodes are joined by a link."),
    "own_address": _("That is the node's own address; write the neighbour's."),
    "until_past": _("That is over already; write a time to come, or none."),
    "line_refused": _("A line is not in the form that is described"),
    "label_refused": _("Write a name, an equals sign and a value on each line"),
    "value_taken": _("Somebody has this value already; choose another one"),
    "same_node": _("A link has two different ends"),
    "fact_changed": _("Somebody has changed this since you read it; look at both versions and decide."),
    "peering_exists": _("The node has a peering of this name already; choose another name."),
    "link_exists": _("These two nodes are linked already."),
    "node_routes_nothing": _("The node routes nothing: it has no AS number yet, or it is decommissioned."),
    "node_key_unknown": _(
        "The node's agent has told no key yet to seal secrets to; connect the agent first."
    ),
    "pool_exists": _("A pool of this name exists already; choose another name."),
    "pool_in_use": _("Values of this pool are given out; free them first."),
    "pool_exhausted": _("Every value of the pool is given out; widen it or free some."),
    "facts_busy": _("Too many people write facts just now. Nothing was changed; try again."),
    "cursor_invalid": _("This page does not exist any more"),
    "not_printable": _("Write letters that can be shown"),
    "client_id_refused": _(
        "An id has no spaces around it, is not “new”, and does not end in /secret or /enabled"
    ),
    "address_missing": _("Name where people are sent back to."),
    "address_not_acceptable": _("Write https addresses, or http on loopback, without user and fragment"),
    "origin_not_acceptable": _("An origin is scheme, host and port."),
    "scope_unknown": _("There is no such scope."),
    "key_not_acceptable": _("A key is a public JWK: P-256, Ed25519, or RSA of at least 2048 bits."),
    "service_incomplete": _("A client that acts on its own has a role, and a secret or keys."),
}


def words(error: FieldError | str, language: Language) -> str:
    """The sentence for a person; a text that is no FieldError is passed on as it is."""
    if not isinstance(error, FieldError):
        return error
    return f"{error.about}: {_sentence(error, language)}" if error.about else _sentence(error, language)


def _sentence(error: FieldError, language: Language) -> str:
    general = _OF_THE_VALIDATOR.get(error.code)
    if general is not None:
        return language.text(general)
    known = _OURS.get(error.code)
    if language.tag == "en" or known is None:
        return error.message
    return language.text(known)
