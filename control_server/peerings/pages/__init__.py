"""Portal routes of peerings and links."""

from control_server.peerings.pages import links, peerings, wizard

#: The wizard first: `/peerings/new` is no peering's address. Routers inside a router would all be analysed
#: where it is included, so the application includes each.
ROUTERS = (wizard.router, peerings.router, links.router)
