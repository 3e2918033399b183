"""The registry for whois clients and filter generators: RIPE's flags and IRRd's `!` queries on one port."""
