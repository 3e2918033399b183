"""Add Debian's backports suite beside the suite this machine already trusts.

Debian 12 carries Valkey only in backports. The mirror, the keyring and every other option are taken from the
machine's own entry for its release: nothing here names a host, and a private mirror stays the only one asked.
"""

import re
from collections.abc import Sequence
from pathlib import Path

APT = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")
ONE_LINE = re.compile(
    r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$"
)
# The one-line format abbreviates what the other format spells out.
FIELD_OF_OPTION = {"arch": "Architectures", "lang": "Languages", "target": "Targets"}
Entry = dict[str, str]


def release_codename(os_release: Path = OS_RELEASE) -> str:
    text = os_release.read_text(encoding="utf-8") if os_release.is_file() else ""
    found = re.search(r'^VERSION_CODENAME="?([a-z]+)"?$', text, re.MULTILINE)
    return found.group(1) if found else ""


def add(apt: Path = APT, os_release: Path = OS_RELEASE) -> bool:
    """Whether a sources file was written: not when the suite is already there or its mirror unknown."""
    codename = release_codename(os_release)
    text = backports_source(configured_entries(apt), codename)
    if text is None:
        return False
    (apt / "sources.list.d" / "routeloom-backports.sources").write_text(text, encoding="utf-8")
    return True


def backports_source(entries: Sequence[Entry], codename: str) -> str | None:
    suite = f"{codename}-backports"
    if any(suite in entry.get("Suites", "").split() for entry in entries):
        return None
    for entry in entries:
        if codename in entry.get("Suites", "").split() and "main" in entry.get("Components", "").split():
            fields = entry | {"Types": "deb", "Suites": suite, "Components": "main"}
            return "".join(f"{name}: {value}\n" for name, value in fields.items())
    return None


def configured_entries(apt: Path) -> list[Entry]:
    """Every enabled source of binary packages, in either of apt's two formats."""
    entries = []
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".sources":
            entries += deb822_entries(text)
        elif path.suffix == ".list":
            entries += one_line_entries(text)
    return [entry for entry in entries if _enabled(entry)]


def _enabled(entry: Entry) -> bool:
    return entry.get("Enabled", "yes").lower() != "no" and "deb" in entry.get("Types", "").split()


def deb822_entries(text: str) -> list[Entry]:
    entries = []
    for paragraph in re.split(r"\n\s*\n", text):
        entry: Entry = {}
        field = ""
        for line in paragraph.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and field:
                # A keyring may stand in the entry itself, over many lines.
                entry[field] += "\n" + line
            elif ":" in line:
                field, _, value = line.partition(":")
                entry[field] = value.strip()
        if entry:
            entries.append(entry)
    return entries


def one_line_entries(text: str) -> list[Entry]:
    entries = []
    for line in text.splitlines():
        found = ONE_LINE.match(line.partition("#")[0].strip())
        if found is None:
            continue
        entry = {
            "Types": "deb",
            "URIs": found["uri"],
            "Suites": found["suite"],
            "Components": found["components"],
        }
        for option in (found["options"] or "").split():
            name, _, value = option.partition("=")
            entry[FIELD_OF_OPTION.get(name, name.title())] = value.replace(",", " ")
        entries.append(entry)
    return entries
