"""Signing in to the portal, who a browser is, and whose access token this is."""

from control_server.operators.service.access_tokens import AccessTokens, ShownProof
from control_server.operators.service.provider import Provider
from control_server.operators.service.sessions import HOST_OPERATOR, OperatorService
from control_server.operators.service.sign_in import Arrival, SignIn
from control_server.operators.service.standing import Standing

__all__ = [
    "HOST_OPERATOR",
    "AccessTokens",
    "Arrival",
    "OperatorService",
    "Provider",
    "ShownProof",
    "SignIn",
    "Standing",
]
