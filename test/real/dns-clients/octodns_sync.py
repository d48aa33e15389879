"""
Syncs a zone to a provider with octoDNS. Arguments: the provider as JSON (`class` and its settings), the types, and `first` or `changed`.
Prints the number of changes.
"""

import json
import logging
import sys
import tempfile
from pathlib import Path

import yaml
from octodns.manager import Manager

from record_sets import changed, record_sets

provider, types, step = json.loads(sys.argv[1]), sys.argv[2].split(','), sys.argv[3]
zone = provider.pop('zone')
logging.basicConfig(level=logging.ERROR)


def fields(type, value):
    """The value of a record in the form of octoDNS."""
    words = value.split()
    named = {
        'CAA': ['flags', 'tag', 'value'],
        'DS': ['key_tag', 'algorithm', 'digest_type', 'digest'],
        'MX': ['preference', 'exchange'],
        'NAPTR': ['order', 'preference', 'flags', 'service', 'regexp', 'replacement'],
        'SRV': ['priority', 'weight', 'port', 'target'],
        'SSHFP': ['algorithm', 'fingerprint_type', 'fingerprint'],
        'TLSA': ['certificate_usage', 'selector', 'matching_type', 'certificate_association_data'],
        'HTTPS': ['svcpriority', 'targetname'],
        'SVCB': ['svcpriority', 'targetname'],
    }
    if type in ('TXT', 'SPF'):
        return value.strip('"').replace(';', '\\;')
    if type not in named:
        return value
    texts = [word.strip('"') for word in words]
    found = {key: int(one) if one.isdigit() else one for key, one in zip(named[type], texts)}
    if type in ('HTTPS', 'SVCB'):
        key, parameter = words[2].replace('"', '').split('=')
        found['svcparams'] = {key: parameter if key == 'port' else [parameter]}
    return found


sets = record_sets(types)
records = {}
for (name, type), (ttl, values) in (changed(sets) if step == 'changed' else sets).items():
    record = {'type': type, 'ttl': ttl, 'values': [fields(type, value) for value in values]}
    if type in ('CNAME', 'PTR'):
        record = {'type': type, 'ttl': ttl, 'value': values[0]}
    if type == 'SRV':
        name = f'_sip._tcp.{name}'
    if type == 'TLSA':
        name = f'_443._tcp.{name}'
    if type == 'SVCB':
        name = f'_dns.{name}'
    records.setdefault(name, []).append(record)

with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / f'{zone}yaml').write_text(yaml.safe_dump(records))
    config = {
        'manager': {'max_workers': 1},
        'providers': {
            'config': {'class': 'octodns.provider.yaml.YamlProvider', 'directory': folder, 'enforce_order': False},
            'target': provider,
        },
        'zones': {zone: {'sources': ['config'], 'targets': ['target']}},
    }
    path = Path(folder) / 'config.yaml'
    path.write_text(yaml.safe_dump(config))
    print(Manager(str(path)).sync(dry_run=False, force=True))
