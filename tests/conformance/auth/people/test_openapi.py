"""No request that the description of the interface allows, or nearly allows, is more than this server can
take: schemathesis reads the OpenAPI document and hunts for answers of 500 and above. Rows N13 and D3."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode

from auth_server.sessions.dependencies import SESSION_COOKIE
from auth_server.sessions.schemas import Browser
from auth_server.sessions.service import PASSKEY
from auth_server.accounts.models import Account
from auth_server.app import create_app
from auth_server.commands import seed
from auth_server.resources import open_resources
from auth_server.settings import AuthSettings
from shared.kernel.clock import utc_now
from shared.kernel.ids import new_uuid
from shared.kernel.principal import Role
from shared.web import csrf
from tests.conformance.auth.people.house import migrate
from tests.conformance.auth.people.served import elsewhere, serving
