"""What the registry says of an AS number, a maintainer or an origin, over HTTP."""
