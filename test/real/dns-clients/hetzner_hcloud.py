"""
Writes record sets of all types to Hetzner with hcloud, reads and changes them. Arguments: the address of the API, the token, and the names
of a zone, a secondary zone, and a zone to create.
"""

import json
import sys

from hcloud import APIException, Client
from hcloud.zones.domain import ZoneRecord, ZoneRRSet

from record_sets import changed, record_sets

url, token, zone_name, secondary, created = sys.argv[1:]
client = Client(token=token, api_endpoint=url, poll_interval=0.01)
zone = client.zones.get(zone_name)
TYPES = 'A AAAA CAA CNAME NS DS HINFO HTTPS MX PTR RP SRV SVCB TLSA TXT'.split()


def records(values):
    return [ZoneRecord(value=value) for value in values]


def sync(wanted):
    """Brings the zone to the wanted state. Returns the number of changes."""
    there = {(one.name, one.type): one for one in zone.get_rrset_all() if one.name != '@'}
    changes = 0
    for key in there.keys() - wanted.keys():
        there[key].delete_rrset().action.wait_until_finished()
        changes += 1
    for (name, type), (ttl, values) in wanted.items():
        one = there.get((name, type))
        actions = []
        if one is None:
            actions.append(zone.create_rrset(name=name, type=type, ttl=ttl, records=records(values)).action)
        else:
            if sorted(record.value for record in one.records) != sorted(values):
                actions.append(one.set_rrset_records(records(values)))
            if one.ttl != ttl:
                actions.append(one.change_rrset_ttl(ttl))
        for action in actions:
            action.wait_until_finished()
        changes += len(actions) > 0
    return changes


def failure(call):
    try:
        call()
    except APIException as error:
        return error.code


sets = record_sets(TYPES)
edited = changed(sets)
counts = [sync(one) for one in (sets, sets, edited, edited)]

new = client.zones.create(name=created, mode='primary')
new.action.wait_until_finished()
delegation = sorted(record.value for record in new.zone.get_rrset('@', 'NS').records)

protected = zone.create_rrset(name='protected', type='A', records=records(['192.0.2.1'])).rrset
protected.change_rrset_protection(change=True).wait_until_finished()
failures = [
    failure(lambda: Client(token='wrong', api_endpoint=url).zones.get_all()),
    failure(lambda: client.zones.get('absent.example')),
    failure(lambda: client.zones.create(name=created, mode='primary')),
    failure(lambda: client.zones.create(name=f'sub.{created}', mode='primary')),
    failure(lambda: client.zones.get(secondary).get_rrset_all()),
    failure(lambda: zone.get_rrset('absent', 'A')),
    failure(lambda: zone.create_rrset(name='d0', type='A', records=records(['192.0.2.1']))),
    failure(lambda: zone.create_rrset(name=f'x.{zone_name}', type='A', records=records(['192.0.2.1']))),
    failure(lambda: zone.create_rrset(name='x', type='TXT', records=records(['not quoted']))),
    failure(lambda: zone.create_rrset(name='x', type='A', records=records(['192.0.2.1', '192.0.2.1']))),
    failure(lambda: zone.create_rrset(name='x', type='A', ttl=59, records=records(['192.0.2.1']))),
    failure(lambda: protected.delete_rrset()),
    failure(lambda: protected.set_rrset_records(records(['192.0.2.2']))),
]
print(json.dumps({'counts': counts, 'delegation': delegation, 'failures': failures}))
