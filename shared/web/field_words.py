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
    "cursor_invalid": _("This page does not exist any more"),
}


def words(error: FieldError | str, language: Language) -> str:
    """The sentence for a person; a text that is no FieldError is passed on as it is."""
    if not isinstance(error, FieldError):
        return error
    general = _OF_THE_VALIDATOR.get(error.code)
    if general is not None:
        return language.text(general)
    known = _OURS.get(error.code)
    if language.tag == "en" or known is None:
        return error.message
    return language.text(known)
