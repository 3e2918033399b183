"""Every setting of every process, with its variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from auth_server.settings import AuthSettings
from control_server.settings import ControlSettings
from node_agent.settings import AgentSettings
from registry_server.settings import RegistrySettings
from routeloom.reference.markdown import page as whole
from routeloom.reference.markdown import table
from shared.runtime_state import RuntimeStateSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

_GROUPS: dict[str, type[BaseSettings]] = {
    "control_server": ControlSettings,
    "auth_server": AuthSettings,
    "registry_server": RegistrySettings,
    "runtime state (control_server, registry_server)": RuntimeStateSettings,
    "node_agent": AgentSettings,
}
_INTRODUCTION = """Every setting is a variable, or for the three services a key of the table `[control]`,
`[auth]` or `[registry]` in the TOML file that `ROUTELOOM_CONFIG` names (groups are sub-tables there). A
variable wins over the file. Lists and networks are JSON in a variable. A wrong value ends the process with
one sentence that names it.

Lite derives all of this from `--port` and `--home`."""


def page() -> str:
    """`docs/reference/settings.md`."""
    parts = []
    for name, model in _GROUPS.items():
        prefix = str(model.model_config.get("env_prefix", ""))
        rows = sorted(_rows(model, prefix))
        parts.append(f"## {name}\n\n{table(('variable', 'default', 'meaning'), rows)}")
    return whole("Settings", _INTRODUCTION, *parts)


def _rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        variable = str(field.validation_alias or f"{prefix}{name.upper()}")
        nested = _nested(field)
        if nested is not None and issubclass(nested, BaseSettings):
            continue  # reads variables of its own names, and stands under its own heading
        if nested is not None:
            yield from _rows(nested, f"{variable}__")
        else:
            yield f"`{variable}`", _default(field), field.description or ""


def _nested(field: FieldInfo) -> type[BaseModel] | None:
    annotation: Any = field.annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value is PydanticUndefined or isinstance(value, SecretStr):
        return ""
    return f"`{value}`" if str(value) and value != () else "none"
