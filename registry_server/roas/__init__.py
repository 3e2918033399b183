"""Route origin authorisations: derived from the routes of each sync, exported as files and to routers."""
