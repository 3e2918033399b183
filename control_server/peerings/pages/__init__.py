"""Portal routes of peerings and links."""

from control_server.peerings.pages import links, peerings, wizard
from shared.web.routing import Router

router = Router(include_in_schema=False)
# The wizard first: `/peerings/new` is no peering's address.
for part in (wizard.router, peerings.router, links.router):
    router.include_router(part)
