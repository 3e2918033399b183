"""Documents of RFC 9083: one for each kind of object."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from registry_server.objects.rules.grammar import words
from registry_server.objects.rules.numbers import unpack
from registry_server.objects.schemas import Prefix
from registry_server.rdap.schemas import (
    CONFORMANCE,
    MEDIA_TYPE,
    SEARCHES,
    Contact,
    Document,
    Life,
    Searched,
    Told,
)

_VERSIONS = {4: "v4", 6: "v6"}
#: Key tag, algorithm, digest type, digest (RFC 4034, section 5.3).
_DS_WORDS = 4
_KINDS = {"person": "individual", "role": "group", "organisation": "org", "mntner": "group"}


def autnum(number: int, told: Told, contacts: Sequence[Contact], base: str) -> Document:
    """An AS number (RFC 9083, section 5.5)."""
    return {
        "objectClassName": "autnum",
        "handle": told.key,
        "startAutnum": number,
        "endAutnum": number,
        "name": told.first("as-name") or told.key,
        "status": ["active"],
        **_shared(told, contacts, f"{base}/autnum/{number}", base),
    }


def network(
    block: Prefix, told: Told, parent: str | None, contacts: Sequence[Contact], base: str
) -> Document:
    """An address block (RFC 9083, section 5.4; the member `cidr0_cidrs` is of its own extension)."""
    version = _VERSIONS[block.family]
    address = unpack(block.first)
    document: Document = {
        "objectClassName": "ip network",
        "handle": block.text,
        "startAddress": address,
        "endAddress": unpack(block.last),
        "ipVersion": version,
        "name": told.first("netname") or block.text,
        "cidr0_cidrs": [{f"{version}prefix": address, "length": block.length}],
        "status": ["active"],
        **_shared(told, contacts, f"{base}/ip/{block.text}", base),
    }
    optional = {"parentHandle": parent, "country": told.first("country"), "type": told.first("status")}
    return document | {name: value for name, value in optional.items() if value}


def domain(told: Told, contacts: Sequence[Contact], base: str) -> Document:
    """A name (RFC 9083, section 5.3)."""
    servers = [words(value) for value in told.values("nserver")]
    return {
        "objectClassName": "domain",
        "handle": told.key,
        "ldhName": told.key.lower(),
        "nameservers": [_nameserver(parts) for parts in servers if parts],
        "secureDNS": _signed(told.values("ds-rdata")),
        "status": ["active"],
        **_shared(told, contacts, f"{base}/domain/{quote(told.key.lower(), safe='')}", base),
    }


def entity(told: Told, contacts: Sequence[Contact], held: Sequence[Document], base: str) -> Document:
    """A person, a role, an organisation or a maintainer, with what names it (RFC 9083, section 5.1)."""
    kinds = (("networks", "ip network"), ("autnums", "autnum"))
    found = {name: [each for each in held if each["objectClassName"] == kind] for name, kind in kinds}
    return {
        "objectClassName": "entity",
        "handle": told.key,
        "vcardArray": _vcard(told),
        **{name: [_brief(each) for each in documents] for name, documents in found.items()},
        **_shared(told, contacts, _entity_url(told.key, base), base),
    }


def whole(
    document: Document, life: Life | None, notices: Sequence[Document] = (), port43: str | None = None
) -> Document:
    """The document as an answer of its own."""
    more: Document = {"events": life.events()} if life else {}
    if port43:
        more["port43"] = port43
    whole = {"rdapConformance": CONFORMANCE, "notices": list(notices), **document, **more}
    return {name: value for name, value in whole.items() if value != []}


def refusal(status: int, title: str, detail: str) -> Document:
    """An error (RFC 9083, section 6)."""
    return {
        "rdapConformance": CONFORMANCE,
        "errorCode": status,
        "title": title,
        "description": [detail],
    }


def source_notice(name: str, told: Told, url: str, base: str) -> Document:
    """Where the answer comes from, and where the object's own text is (RFC 9083, section 4.3)."""
    site = base.removesuffix("/rdap")
    path = f"objects/{told.object_class}/{quote(told.key)}"
    return {
        "title": "Source",
        "description": [f"What the routing registry says, as mirrored by {name}."],
        "links": [
            {"value": url, "rel": "alternate", "href": f"{site}/{path}", "type": "text/html"},
            {"value": url, "rel": "alternate", "href": f"{site}/api/v1/{path}/raw", "type": "text/plain"},
        ],
    }


def truncated_notice(told: int) -> Document:
    """There is more than is told (RFC 9083, sections 4.3 and 10.2.1)."""
    return {
        "title": "Truncated",
        "type": "object truncated due to unexplainable reasons",
        "description": [f"More networks and AS numbers name this entity; the first {told} are told."],
    }


def results(of: Searched, found: Sequence[Document], most: int) -> Document:
    """What a search found (RFC 9083, section 8), each in brief; `found` has one more where there are more."""
    more = [_more_notice(most)] if len(found) > most else []
    document: Document = {"rdapConformance": [*CONFORMANCE, *of.extensions]}
    if more:
        document["notices"] = more
    return document | {of.member: [_brief(each) for each in found[:most]]}


def _more_notice(told: int) -> Document:
    """There are more results than are told (RFC 9083, sections 9 and 10.2.1)."""
    return {
        "title": "Truncated",
        "type": "result set truncated due to unexplainable reasons",
        "description": [f"More objects fit; the first {told} are told. Ask for a narrower name."],
    }


def help_document(name: str, base: str) -> Document:
    """What this server is (RFC 9083, section 7)."""
    notice = {
        "title": f"RDAP of {name}",
        "description": [
            "AS numbers, addresses, names and contacts of a routing registry.",
            "Answered: autnum/<number>, ip/<address or prefix>, domain/<name>, entity/<handle>, help.",
            *(f"Searched: {kind.value} by {' or '.join(of.properties)}." for kind, of in SEARCHES.items()),
            "In what is searched for, * stands for any characters, as in entities?fn=foo*.",
            "For clients that start there: asn.json, ipv4.json, ipv6.json, dns.json, object-tags.json.",
        ],
        "links": [_link(f"{base}/help", "self", f"{base}/help")],
    }
    return {"rdapConformance": CONFORMANCE, "notices": [notice]}


def bootstrap(ranges: Sequence[str], published: str, base: str) -> Document:
    """Where to ask for which ranges: always here (RFC 9224); no service where there are none."""
    return {
        "version": "1.0",
        "publication": published,
        "description": "RDAP services of this registry",
        "services": [[list(ranges), [f"{base}/"]]] if ranges else [],
    }


def _brief(document: Document) -> Document:
    """A document inside another: what tells it from others, and where all of it is."""
    return {name: value for name, value in document.items() if name not in {"entities", "remarks"}}


def _shared(told: Told, contacts: Sequence[Contact], url: str, base: str) -> Document:
    remarks = [
        {"title": title, "description": lines}
        for title, name in (("description", "descr"), ("remarks", "remarks"))
        if (lines := [line for value in told.values(name) for line in value.split("\n")])
    ]
    return {
        "entities": [_contact(found, base) for found in _by_handle(contacts).items()],
        "links": [_link(url, "self", url)],
        "remarks": remarks,
    }


def _by_handle(contacts: Sequence[Contact]) -> dict[str, list[Contact]]:
    """One entity for each object, with all its roles."""
    found: dict[str, list[Contact]] = {}
    for contact in contacts:
        found.setdefault(contact.told.key, []).append(contact)
    return found


def _contact(found: tuple[str, list[Contact]], base: str) -> Document:
    handle, contacts = found
    url = _entity_url(handle, base)
    return {
        "objectClassName": "entity",
        "handle": handle,
        "roles": list(dict.fromkeys(contact.role for contact in contacts)),
        "vcardArray": _vcard(contacts[0].told),
        "links": [_link(url, "self", url)],
    }


def _vcard(told: Told) -> list[object]:
    """A jCard (RFC 7095); an object without a name is known by its key."""
    name = told.first("person", "role", "org-name") or told.key
    fields: list[list[object]] = [
        ["version", {}, "text", "4.0"],
        ["fn", {}, "text", name],
        ["kind", {}, "text", _KINDS[told.object_class]],
    ]
    mails = [*told.values("e-mail"), *told.values("abuse-mailbox")]
    fields += [["email", {}, "text", mail] for mail in dict.fromkeys(mails)]
    address = [line for value in told.values("address") for line in value.split("\n")]
    if address:
        fields.append(["adr", {"label": "\n".join(address)}, "text", ["", "", "", "", "", "", ""]])
    fields += [["tel", {}, "text", number] for number in told.values("phone")]
    return ["vcard", fields]


def _nameserver(parts: Sequence[str]) -> Document:
    found: Document = {"objectClassName": "nameserver", "ldhName": parts[0].lower()}
    if len(parts) > 1:
        version = "v6" if ":" in parts[1] else "v4"
        found["ipAddresses"] = {version: [parts[1]]}
    return found


def _signed(records: Sequence[str]) -> Document:
    """What the parent zone says of the keys; a record that is not four words long is left out."""
    split = [words(record) for record in records]
    data = [
        {"keyTag": int(tag), "algorithm": int(algorithm), "digestType": int(kind), "digest": "".join(digest)}
        for tag, algorithm, kind, *digest in (parts for parts in split if len(parts) >= _DS_WORDS)
        if tag.isdecimal() and algorithm.isdecimal() and kind.isdecimal()
    ]
    return {"delegationSigned": bool(records), **({"dsData": data} if data else {})}


def _entity_url(handle: str, base: str) -> str:
    return f"{base}/entity/{quote(handle, safe='')}"


def _link(value: str, rel: str, href: str) -> Document:
    return {"value": value, "rel": rel, "href": href, "type": MEDIA_TYPE}
