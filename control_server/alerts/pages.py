"""Portal routes of alerts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from control_server.alerts.dependencies import AlertAdmin, AlertReader, Alerts
from control_server.alerts.schemas import ChannelCreate, ChannelId
from control_server.alerts.service import AlertDesk
from shared.kernel.principal import Principal, Scope
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(prefix="/alerts", include_in_schema=False)

_UNTYPED = {"name": "", "url": ""}
_SHOWN = 50


@router.get("")
async def show_alerts(request: Request, reader: AlertReader, alerts: Alerts) -> Response:
    """Incidents, and for administrators the channels and what was told to them."""
    shown = await _shown(reader, alerts)
    return render(request, "alerts/alerts.html", typed=_UNTYPED, errors={}, created=None, **shown)


@router.post("/channels")
async def create_channel_from_page(
    request: Request,
    admin: AlertAdmin,
    alerts: Alerts,
    name: Annotated[str, Form()] = "",
    url: Annotated[str, Form()] = "",
) -> Response:
    """Add a channel and show its secret on this one page."""
    typed = {"name": name, "url": url}
    before = await _shown(admin, alerts)
    with drawn_again(
        lambda refusal: render(
            request,
            "alerts/alerts.html",
            status_code=STATUS_OF_KIND[refusal.kind],
            typed=typed,
            errors=field_messages(refusal),
            created=None,
            **before,
        )
    ):
        created = await alerts.create(admin, parse(ChannelCreate, typed))
    shown = await _shown(admin, alerts)
    return render(
        request, "alerts/alerts.html", status_code=201, typed=_UNTYPED, errors={}, created=created, **shown
    )


@router.post("/channels/{channel_id}/test")
async def test_channel_from_page(admin: AlertAdmin, channel_id: ChannelId, alerts: Alerts) -> Response:
    """Send a test notification."""
    await alerts.test(admin, channel_id)
    return RedirectResponse("/alerts#deliveries", status_code=303)


@router.post("/channels/{channel_id}/delete")
async def delete_channel_from_page(admin: AlertAdmin, channel_id: ChannelId, alerts: Alerts) -> Response:
    """Remove a channel."""
    await alerts.delete(admin, channel_id)
    return RedirectResponse("/alerts", status_code=303)


async def _shown(reader: Principal, alerts: AlertDesk) -> dict[str, Any]:
    admin = reader.may(Scope.ACCESS_ADMIN)
    return {
        "incidents": await alerts.list_incidents(_SHOWN),
        "channels": await alerts.list_channels() if admin else [],
        "deliveries": await alerts.list_deliveries(_SHOWN) if admin else [],
    }
