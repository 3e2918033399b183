"""Rendering: the same facts always give the same bytes, different facts different ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from control_server.desired_state.schemas import Bundle, FileRead, NodeChange, NodeFacts, PreviewCreate
from shared.protocol.desired_state.document import DesiredState
from shared.rendering.bird import Surroundings, render
from shared.rendering.links import render_links
from shared.rendering.versions import BirdVersion

CONFIGURATION_PATH = "configuration.txt"
#: For nodes whose agent has not said which BIRD they have: the oldest that is served.
PREVIEW_VERSION = BirdVersion(2, 0, 12)


def rendered_files(state: DesiredState, generation: int, version: BirdVersion) -> dict[str, str]:
    """Every file of a generation by path: BIRD's as the node has them but for secrets, then the links."""
    return {**render(state, generation, Surroundings(version)).files, **render_links(state)}


def unsupported_options(state: DesiredState, generation: int, version: BirdVersion) -> list[str]:
    """Options that this version of BIRD does not know, with the version that does."""
    bundle = render(state, generation, Surroundings(version))
    return [f"{entry.field} needs {entry.needs}" for entry in bundle.unsupported]


def changed_facts(present: NodeFacts, change: NodeChange) -> NodeFacts:
    """The facts with the change applied."""

    def targets(wanted: Iterable[object] | None, now: tuple[str, ...]) -> tuple[str, ...]:
        return now if wanted is None else tuple(str(network) for network in wanted)

    return NodeFacts(
        node_id=present.node_id,
        site=present.site if change.site is None else change.site,
        description=present.description if change.description is None else change.description,
        labels=present.labels if change.labels is None else change.labels,
        allow_targets=targets(change.allow_targets, present.allow_targets),
        deny_targets=targets(change.deny_targets, present.deny_targets),
    )


def render_node(facts: NodeFacts) -> str:
    """One node as text. Values are quoted, so that no value can spell another line."""
    lines = [f"node {_quoted(facts.node_id)} {{"]
    lines += [f"  site {_quoted(facts.site)};", f"  description {_quoted(facts.description)};"]
    lines += [f"  label {_quoted(name)} {_quoted(facts.labels[name])};" for name in sorted(facts.labels)]
    lines += [f"  allow target {network};" for network in sorted(facts.allow_targets)]
    lines += [f"  deny target {network};" for network in sorted(facts.deny_targets)]
    return "\n".join([*lines, "}", ""])


def render_bundle(facts: Iterable[NodeFacts], wanted: PreviewCreate) -> Bundle:
    """The whole of a change: nodes by id, then its own texts and binary files."""
    texts = {each.node_id: render_node(each) for each in facts}
    modules = {f"nodes/{node_id}.conf": text for node_id, text in texts.items()}
    return Bundle(
        configuration="\n".join(texts[node_id] for node_id in sorted(texts)),
        modules=modules | {f"sources/{path}": text for path, text in wanted.sources.items()},
        assets=dict(wanted.assets),
    )


def list_files(bundle: Bundle) -> list[FileRead]:
    """The bundle's files with their digests, by kind and path."""
    configuration = _file(CONFIGURATION_PATH, "configuration", bundle.configuration.encode())
    modules = [_file(path, "module", text.encode()) for path, text in sorted(bundle.modules.items())]
    assets = [_file(path, "asset", content) for path, content in sorted(bundle.assets.items())]
    return [configuration, *modules, *assets]


def digest_of_all(files: Iterable[FileRead]) -> str:
    """One digest over paths, kinds and digests of all files."""
    whole = json.dumps([[file.kind, file.path, file.sha256] for file in files])
    return hashlib.sha256(whole.encode()).hexdigest()


def _file(path: str, kind: str, content: bytes) -> FileRead:
    digest = hashlib.sha256(content).hexdigest()
    return FileRead.model_validate({"path": path, "kind": kind, "bytes": len(content), "sha256": digest})


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
