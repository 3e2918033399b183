import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tests.architecture.tree import ROOT, files, text_of

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
EXPLICIT = re.compile(r"(?:id|name)=\"([^\"]+)\"")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))


def anchors(path: Path) -> set[str]:
    text = FENCED.sub("", text_of(path))
    found = set(EXPLICIT.findall(text))
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        repeats = sum(1 for each in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", each))
        found.add(f"{slug}-{repeats}" if repeats else slug)
    return found


def local_links(path: Path) -> Iterator[tuple[Path, str]]:
    """The file and the anchor of every link that stays inside the checkout."""
    for link in LINK.findall(without_code(text_of(path))):
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        target, _, anchor = unquote(link).partition("#")
        place = (ROOT / path.parent / target).resolve() if target else ROOT / path
        yield place, anchor


def test_every_link_inside_the_checkout_leads_somewhere() -> None:
    broken = []
    for path in files(".md"):
        for place, anchor in local_links(path):
            if not place.exists() or not place.is_relative_to(ROOT):
                broken.append(f"{path}: {place}")
            elif anchor and place.suffix == ".md" and anchor not in anchors(place.relative_to(ROOT)):
                broken.append(f"{path}: {place}#{anchor}")
    assert not broken
