"""The portal's static files: held in memory, compressed, under an address that changes with their content."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from shared.kernel.errors import NotFound
from shared.web.prepared import PREPARED_ROOT, prepared

if TYPE_CHECKING:
    from collections.abc import Mapping

STATIC_ROOT = Path(__file__).parent / "static"
_FRAMEWORK = "vendor/tabler/tabler.min.css"
_PLOT = "vendor/uplot/uPlot.min.css"
#: One style sheet out of these: the framework in a layer below, then ours in this order.
_STYLES = (
    *("tokens", "base", "layout", "components", "charts"),
    *("forms", "table", "terminal", "feedback", "fleet"),
)
_BUNDLE = "css/app.css"
_NEEDED = (
    _FRAMEWORK,
    _PLOT,
    "vendor/uplot/uPlot.iife.min.js",
    "vendor/htmx/htmx.min.js",
    "vendor/fonts/geist-latin-wght-normal.woff2",
    "vendor/fonts/geist-mono-latin-wght-normal.woff2",
)
_TYPES = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
}
_ALREADY_SMALL = frozenset({".woff2", ".png", ".ico"})
_FOR_EVER = "public, max-age=31536000, immutable"
_AGAIN = "public, max-age=300"
_SMALLEST_WORTH_PACKING = 512


class AssetsMissing(RuntimeError):
    """The portal's third-party files are not installed: run `make setup`."""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is sent."""

    content: bytes
    media_type: str
    #: With gzip; None where it would not pay.
    packed: bytes | None
    #: With Brotli, where set-up has done it.
    packed_well: bytes | None = None


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """Every file below one address; the address carries a digest of all of them."""

    address: str
    version: str
    files: Mapping[str, StaticFile] = field(repr=False)

    def url(self, path: str) -> str:
        """The address of one file, which may be kept for ever. Raises KeyError for an unknown file."""
        if path not in self.files:
            raise KeyError(path)
        return f"{self.address}/{self.version}/{path}"

    async def answer(self, request: Request) -> Response:
        """Send a file. Under an older digest the present file is sent, to be asked for again soon."""
        file = self.files.get(request.path_params["path"])
        if file is None:
            raise NotFound
        current = request.path_params["version"] == self.version
        headers = {"Cache-Control": _FOR_EVER if current else _AGAIN, "Vary": "Accept-Encoding"}
        content, encoding = _for_client(file, request.headers.get("accept-encoding", ""))
        if encoding:
            headers["Content-Encoding"] = encoding
        return Response(content, media_type=file.media_type, headers=headers)


def _for_client(file: StaticFile, accepted: str) -> tuple[bytes, str]:
    known = {part.split(";", 1)[0].strip() for part in accepted.split(",")}
    if file.packed_well is not None and "br" in known:
        return file.packed_well, "br"
    if file.packed is not None and "gzip" in known:
        return file.packed, "gzip"
    return file.content, ""


@cache
def _own_files(address: str) -> StaticFiles:
    return _load(address, STATIC_ROOT)


def load_static_files(address: str, root: Path = STATIC_ROOT) -> StaticFiles:
    """Everything below `root`, our own read once. Raises AssetsMissing without the third parties' files."""
    return _own_files(address) if root == STATIC_ROOT else _load(address, root)


def _load(address: str, root: Path) -> StaticFiles:
    missing = [name for name in _NEEDED if not (root / name).is_file()]
    if missing:
        raise AssetsMissing(f"{AssetsMissing.__doc__} Missing: {', '.join(missing)}.")
    contents = {_BUNDLE: _bundle(root)}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if (
            path.is_file()
            and name != _FRAMEWORK
            and path.suffix != ".css"
            and PREPARED_ROOT not in path.parents
        ):
            contents[name] = path.read_bytes()
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    files = {name: _prepare(name, content) for name, content in contents.items()}
    return StaticFiles(address=address, version=digest.hexdigest()[:12], files=files)


def _bundle(root: Path) -> bytes:
    framework = (root / _FRAMEWORK).read_text(encoding="utf-8").removeprefix('@charset "UTF-8";')
    framework = framework.split("/*# sourceMappingURL", 1)[0] + (root / _PLOT).read_text(encoding="utf-8")
    own = "\n".join((root / "css" / f"{name}.css").read_text(encoding="utf-8") for name in _STYLES)
    return f'@charset "UTF-8";\n@layer framework {{{framework}}}\n{own}'.encode()


def _prepare(name: str, content: bytes) -> StaticFile:
    suffix = Path(name).suffix
    media_type = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    packed = None
    if suffix not in _ALREADY_SMALL and len(content) > _SMALLEST_WORTH_PACKING:
        packed = prepared(content, "gz", lambda: gzip.compress(content, compresslevel=9, mtime=0))
    packed_well = None if packed is None else prepared(content, "br", bytes)
    return StaticFile(content, media_type, packed, packed_well or None)
