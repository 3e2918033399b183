"""What the registry says at one sync, in memory: whois, the routers' protocol and exports answer from it."""
