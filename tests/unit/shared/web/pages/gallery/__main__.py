"""Serve the gallery on a loopback port to look at it."""

import sys

import uvicorn

from tests.unit.shared.web.pages.gallery.app import gallery_app

if __name__ == "__main__":
    uvicorn.run(gallery_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
