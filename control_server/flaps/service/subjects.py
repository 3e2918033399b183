"""Which incident tells of which kind of subject."""

from __future__ import annotations

from control_server.flaps.schemas import SubjectKind
from control_server.incidents.schemas import IncidentKind

INCIDENT_OF = {
    SubjectKind.SESSION: IncidentKind.SESSION_FLAPPING,
    SubjectKind.PREFIX: IncidentKind.PREFIX_FLAPPING,
    SubjectKind.NODE: IncidentKind.NODE_FLAPPING,
}
SUBJECT_OF = {incident: subject for subject, incident in INCIDENT_OF.items()}
