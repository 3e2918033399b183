import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from tests.architecture.tree import ROOT, all_files, files, text_of

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
EXPLICIT = re.compile(r"(?:id|name)=\"([^\"]+)\"")
COMMANDS = Path("docs/reference/cli.md")
DECISIONS = Path("docs/decisions")
#: Named in the documentation, and not committed.
MADE_BY_SETUP = ("shared/web/static/vendor", "shared/web/assets/node_modules")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCED.sub("", text))


def without_fences(path: Path) -> str:
    return FENCED.sub("", text_of(path))


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


def code_of(path: Path) -> Iterator[str]:
    """Every line of code in a page: fenced, indented, or between backticks."""
    text = text_of(path)
    for block in FENCED.finditer(text):
        yield from block[0].splitlines()[1:-1]
    prose = FENCED.sub("", text)
    yield from (line.strip() for line in prose.splitlines() if line.startswith("    "))
    yield from re.findall(r"`([^`\n]+)`", prose)


def described() -> list[Path]:
    """The pages that people write; those that the code writes are held by the code."""
    return [path for path in files(".md") if not path.is_relative_to("docs/reference")]


def test_every_command_in_the_documentation_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of(Path("Makefile")), re.MULTILINE))
    commands = set(re.findall(r"^## `routeloom ([a-z -]+)`$", text_of(COMMANDS), re.MULTILINE))
    groups = {command.split()[0] for command in commands}
    unknown = []
    for path in described():
        for line in code_of(path):
            made = re.match(r"make(?: [A-Z_]+=\S+)*(?: ([a-z-]+))?", line)
            if made and made[1] and made[1] not in targets:
                unknown.append(f"{path}: {line}")
            called = re.match(r"(?:\.venv/bin/)?routeloom((?: [a-z][a-z-]*){1,2})", line)
            if called and not {called[1].strip(), called[1].split()[0]} & (commands | groups):
                unknown.append(f"{path}: {line}")
    assert not unknown


def test_every_file_that_the_documentation_names_exists() -> None:
    tops = {path.parts[0] for path in all_files() if len(path.parts) > 1}
    missing = []
    for path in described():
        for span in re.findall(r"`([A-Za-z_][\w./-]*/[\w./-]*)`", without_fences(path)):
            top = span.split("/")[0]
            made_up = "remarks" in span or "NNNN" in span or span.startswith(MADE_BY_SETUP)
            if top in tops and not made_up and not (ROOT / span).exists():
                missing.append(f"{path}: {span}")
    assert not missing


def test_every_page_is_linked_from_another() -> None:
    linked = {
        place.relative_to(ROOT)
        for path in files(".md")
        for place, _ in local_links(path)
        if place.is_relative_to(ROOT) and place != ROOT / path
    }
    assert [str(path) for path in files(".md") if path.parts[0] == "docs" and path not in linked] == []


def test_the_chinese_readme_is_a_twin() -> None:
    """The same headings, pictures, blocks of code and links in the same order."""
    twins = (Path("README.md"), Path("README.zh-CN.md"))
    shapes = [
        (
            [line.split(" ")[0] for line in text_of(path).splitlines() if line.startswith("#")],
            [target for target in LINK.findall(text_of(path)) if "README" not in target.split("/")[0]],
            [len(block.splitlines()) for block in re.findall(r"(?:^    .*\n)+", text_of(path), re.MULTILINE)],
        )
        for path in twins
    ]
    assert shapes[0] == shapes[1]


def test_every_decision_is_listed_and_has_its_three_parts() -> None:
    index = text_of(DECISIONS / "README.md")
    pages = [path for path in files(".md") if path.parent == DECISIONS and path.name != "README.md"]
    numbers = [int(path.name[:4]) for path in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for path in pages:
        title = re.sub(r"^# \d{4}: ", "", text_of(path).splitlines()[0])
        assert f"[{path.name[:4]}]({path.name}) | {title} |" in index, path
        for part in ("**Context.**", "**Decision.**", "**Consequence.**"):
            assert text_of(path).count(part) == 1, path
