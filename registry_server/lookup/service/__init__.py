"""Look-ups: what the registry says, and who may speak for an AS number."""

from registry_server.lookup.repository.catalogue import FoundObject
from registry_server.lookup.service.answers import VersionedAnswers
from registry_server.lookup.service.catalogue import CatalogueService, class_named
from registry_server.lookup.service.connections import ConnectionService
from registry_server.lookup.service.finding import FindingService
from registry_server.lookup.service.identity import IdentityService
from registry_server.lookup.service.records import LookupService

__all__ = [
    "CatalogueService",
    "ConnectionService",
    "FindingService",
    "FoundObject",
    "IdentityService",
    "LookupService",
    "VersionedAnswers",
    "class_named",
]
