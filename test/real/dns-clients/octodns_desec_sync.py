"""Syncs a zone to deSEC with octoDNS, as octodns_sync.py does. ENDPOINT is the address of the API."""

import os
import runpy

import octodns_desec

octodns_desec.DesecAPI.API_DOMAINS_URL = os.environ['ENDPOINT'] + '/domains'
runpy.run_path('octodns_sync.py')
