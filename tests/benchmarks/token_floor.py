"""The least that a token costs here: a bare Starlette route on the same server that only signs.

    python -m tests.benchmarks.token_floor PORT

It reads no form, knows no client, and keeps nothing; what remains is HTTP, the claims, and the signature.
"""

from __future__ import annotations

import sys
from time import time
from uuid import uuid4

import uvicorn
from joserfc import jwt
from joserfc.jwk import ECKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

_KEY = ECKey.generate_key("P-256", private=True)
_HEADER = {"alg": "ES256", "kid": "floor", "typ": "at+jwt"}
_LIFE = 300


async def sign(request: Request) -> JSONResponse:
    """A token of the same size as ours for anybody."""
    await request.body()
    at = int(time())
    claims = {
        "iss": "http://localhost:65535/auth",
        "aud": ["http://localhost:65535/auth", "http://localhost:65535/api"],
        "sub": "robot",
        "client_id": "robot",
        "role": "operator",
        "jti": str(uuid4()),
        "scope": "fleet:read",
        "iat": at,
        "exp": at + _LIFE,
    }
    token = jwt.encode(_HEADER, claims, _KEY, algorithms=["ES256"])
    answer = {"access_token": token, "token_type": "Bearer", "expires_in": _LIFE, "scope": "fleet:read"}
    return JSONResponse(answer, headers={"Cache-Control": "no-store"})


def main() -> None:
    app = Starlette(routes=[Route("/token", sign, methods=["POST"])])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        log_level="warning",
        access_log=False,
    )


if __name__ == "__main__":
    main()
