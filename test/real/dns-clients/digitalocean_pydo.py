"""
Writes records of all types to DigitalOcean with pydo, reads and changes them. Arguments: the address of the API, the token, and the names of
a domain and a domain to create.
"""

import json
import sys

from azure.core.exceptions import HttpResponseError
from pydo import Client

from record_sets import changed, record_sets

url, token, domain, created = sys.argv[1:]
# The client appends the version of the API.
domains = Client(token=token, endpoint=url.removesuffix('/v2')).domains
HTTP = {'enforce_https': False}
TYPES = 'A AAAA CAA CNAME MX NS SRV TXT'.split()
POINTING = ('CAA', 'CNAME', 'MX', 'NS', 'SRV')


def members(type, value):
    """Fields of a record. Names have a dot at the end."""
    words = value.split(' ')
    if type == 'TXT':
        return {'data': value.strip('"')}
    if type == 'CAA':
        return {'flags': int(words[0]), 'tag': words[1], 'data': words[2].strip('"') + '.'}
    if type == 'MX':
        return {'priority': int(words[0]), 'data': words[1]}
    if type == 'SRV':
        priority, weight, port = map(int, words[:3])
        return {'priority': priority, 'weight': weight, 'port': port, 'data': words[3]}
    return {'data': value}


def shown(record):
    """Fields of a record as members() returns them."""
    others = {field: record[field] for field in ('priority', 'weight', 'port', 'flags', 'tag')}
    set_fields = {field: value for field, value in others.items() if value is not None}
    return {'data': record['data'] + ('.' if record['type'] in POINTING else ''), **set_fields}


def read():
    found, page = {}, 1
    while True:
        answer = domains.list_records(domain, per_page=10, page=page, **HTTP)
        for one in answer['domain_records']:
            if one['name'] != '@':
                found.setdefault((one['name'], one['type']), []).append(one)
        if 'next' not in answer['links'].get('pages', {}):
            return found
        page += 1


def sync(wanted):
    """Brings the domain to the wanted state. Returns the number of changes."""
    there = read()
    changes = 0
    for name, type in {**there, **wanted}:
        ttl, values = wanted.get((name, type), (0, []))
        missing = [members(type, value) for value in values]
        before = changes
        for record in there.get((name, type), []):
            if shown(record) not in missing:
                domains.delete_record(domain, record['id'], **HTTP)
                changes = before + 1
                continue
            missing.remove(shown(record))
            if record['ttl'] != ttl:
                body = {'type': type, 'name': name, 'ttl': ttl, **shown(record)}
                domains.update_record(domain, record['id'], body=body, **HTTP)
                changes = before + 1
        for one in missing:
            domains.create_record(domain, body={'type': type, 'name': name, 'ttl': ttl, **one}, **HTTP)
            changes = before + 1
    return changes


def failure(call):
    """Status and message of a failed call. The client returns some errors instead of raising them."""
    try:
        answer = call()
        return [answer.get('id'), answer.get('message')]
    except HttpResponseError as error:
        return [error.status_code, json.loads(error.response.text())['message']]


sets = record_sets(TYPES)
edited = changed(sets)
counts = [sync(one) for one in (sets, sets, edited, edited)]
new = domains.create(body={'name': created}, **HTTP)['domain']


def create(**record):
    return failure(lambda: domains.create_record(domain, body=record, **HTTP))


failures = [
    failure(lambda: Client(token='wrong', endpoint=url.removesuffix('/v2')).domains.list(**HTTP)),
    failure(lambda: domains.get('absent.example', **HTTP)),
    failure(lambda: domains.create(body={'name': created}, **HTTP)),
    failure(lambda: domains.delete_record(domain, 1, **HTTP)),
    create(type='CNAME', name='x', data='example.net'),
    create(type='CAA', name='@', flags=0, tag='issue', data='ca.example.net'),
    create(type='MX', name='@', priority=0, data='.'),
    create(type='A', name='x', data='192.0.2'),
    create(type='A', name='x', data='192.0.2.1', ttl=29),
    create(type='PTR', name='x', data='example.net.'),
    create(type='TXT', name='x', data=''),
]
print(json.dumps({'counts': counts, 'zone_file': new['zone_file'], 'failures': failures}))
