"""Syncs a zone to DigitalOcean with octoDNS, as octodns_sync.py does. ENDPOINT is the address of the API."""

import os
import runpy

import octodns_digitalocean
import record_sets

octodns_digitalocean.DigitalOceanClient.BASE = os.environ['ENDPOINT']
# DigitalOcean requires a dot at the end of the names of CAs, and returns them without, so octoDNS would change them each time.
record_sets.VALUES['CAA'] = lambda n: f'0 iodef "mailto:ca{n}@example.net"'
runpy.run_path('octodns_sync.py')
