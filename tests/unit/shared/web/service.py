"""A small service for tests of the web layer, on a real SQLite file."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, FastAPI, Form
from pydantic import BaseModel, Field
from sqlalchemy import text
from starlette.requests import HTTPConnection

from shared.database import Database, DatabaseSettings, open_database
from shared.kernel.errors import AppError, FieldError, InvalidInput, Kind
from shared.kernel.principal import Principal, PrincipalKind, Role, Scope
from shared.web.app import Assembled, ServiceSpec, build_app
from shared.web.csrf import require_token
from shared.web.head import no_head
from shared.web.health import TierReport
from shared.web.pages import Pages, build_pages
from shared.web.principals import Require
from shared.web.settings import WebSettings
from shared.web.transactions import Session

COOKIE = "__Host-rl_test"
router = APIRouter()


class Busy(AppError):
    """Too much at once."""

    kind: ClassVar[Kind] = Kind.THROTTLED
    code: ClassVar[str] = "test_busy"


class Thing(BaseModel):
    name: str = Field(min_length=2)
    size: int


@router.get("/refused/{kind}")
async def refuse(kind: Kind) -> None:
    refusal = type("Refusal", (AppError,), {"kind": kind, "code": f"test_{kind}", "__doc__": "No."})
    raise refusal


@router.get("/busy")
async def busy() -> None:
    raise Busy(retry_after=timedelta(seconds=1.2))


@router.get("/fields")
async def fields() -> None:
    raise InvalidInput(fields=[FieldError("name", "taken", "Choose another name.")])


@router.get("/bug")
async def bug() -> None:
    raise RuntimeError("rlp_0123456789ab_" + "x" * 43)


@router.post("/things", status_code=201)
async def create(thing: Thing, session: Session) -> Thing:
    statement = text("INSERT INTO things (id, parent) VALUES (1, :parent)")
    await session.execute(statement, {"parent": thing.size})
    return thing


@router.get("/operators-only")
async def operators_only(who: Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]) -> str:
    return who.name


@router.post("/operators-only")
async def create_for_operators(
    thing: Thing, _who: Annotated[Principal, Depends(Require(Scope.FLEET_WRITE))]
) -> str:
    return thing.name


@router.get("/spent", dependencies=[Depends(no_head)])
async def spend() -> str:
    raise AssertionError("a HEAD came through")


@router.post("/form")
async def form(note: Annotated[str, Form()]) -> str:
    return note


@router.post("/sign-in-form", dependencies=[Depends(require_token)])
async def sign_in_form() -> str:
    return "in"


@dataclass
class Resources:
    database: Database


@dataclass
class Watch:
    seen: TierReport

    def report(self) -> TierReport:
        return self.seen


@dataclass
class Known:
    """`Bearer viewer`, `Bearer operator`, or the same word in the cookie."""

    roles: dict[str, Role] = field(default_factory=lambda: {role.value: role for role in Role})

    async def __call__(self, connection: HTTPConnection) -> Principal | None:
        word = connection.headers.get("authorization", "").removeprefix("Bearer ")
        role = self.roles.get(word or connection.cookies.get(COOKIE, ""))
        return Principal.of_role(role, PrincipalKind.PERSON, role, role) if role else None


@cache
def pages() -> Pages:
    return build_pages([])


def build(directory: Path, reports: Sequence[TierReport] = ()) -> FastAPI:
    """The application on a database with one deferred constraint."""

    @asynccontextmanager
    async def resources() -> AsyncIterator[Resources]:
        url = {"url": f"sqlite:///{directory / 'service.db'}"}
        database = open_database(DatabaseSettings.model_validate(url))
        async with database.writer.begin() as connection:
            await connection.execute(text("CREATE TABLE IF NOT EXISTS parents (id BIGINT PRIMARY KEY)"))
            await connection.execute(
                text(
                    "CREATE TABLE IF NOT EXISTS things (id BIGINT PRIMARY KEY, parent BIGINT "
                    "REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)"
                )
            )
        yield Resources(database)
        await database.close()

    return build_app(
        ServiceSpec(
            name="test",
            prefix="",
            settings=WebSettings(),
            routers=[router],
            open_resources=resources,
            assemble=lambda _app, _resources: Assembled(
                Known(), tier_watches=[Watch(report) for report in reports]
            ),
            pages=pages(),
            sign_in_path="/sign-in",
        )
    )
