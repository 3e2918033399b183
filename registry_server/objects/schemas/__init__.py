"""The words of this feature: what a registry file says, what is wrong with it, and what is stored for it."""

from registry_server.objects.schemas.files import (
    SEVERITY_OF,
    Attribute,
    AuthMethod,
    FileVersion,
    ObjectPath,
    Prefix,
    Problem,
    ProblemCode,
    Reference,
    RegistryObject,
    Route,
    Severity,
)
from registry_server.objects.schemas.stored import (
    ROUTE_CLASSES,
    IndexCounts,
    IndexRows,
    Tally,
    rows_of,
)

__all__ = [
    "ROUTE_CLASSES",
    "SEVERITY_OF",
    "Attribute",
    "AuthMethod",
    "FileVersion",
    "IndexCounts",
    "IndexRows",
    "ObjectPath",
    "Prefix",
    "Problem",
    "ProblemCode",
    "Reference",
    "RegistryObject",
    "Route",
    "Severity",
    "Tally",
    "rows_of",
]
