"""Syncs a zone to Hetzner with octoDNS, as octodns_sync.py does. ENDPOINT is the address of the API."""

import functools
import os
import runpy

import hcloud

hcloud.Client = functools.partial(hcloud.Client, api_endpoint=os.environ['ENDPOINT'], poll_interval=0.01)
runpy.run_path('octodns_sync.py')
