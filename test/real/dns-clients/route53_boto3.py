"""Writes record sets of all types to Route 53 with boto3, reads and changes them. ENDPOINT is the address of the API."""

import json
import os

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from record_sets import changed, record_sets

client = boto3.client(
    'route53',
    endpoint_url=os.environ['ENDPOINT'],
    region_name='us-east-1',
    config=Config(retries={'max_attempts': 0}),
)
TYPES = [
    *['A', 'AAAA', 'CAA', 'CNAME', 'NS', 'DS', 'HTTPS', 'MX', 'NAPTR'],
    *['PTR', 'SPF', 'SRV', 'SSHFP', 'SVCB', 'TLSA', 'TXT'],
]
ZONE = 'boto.example.'


def api_form(key, content):
    (name, type), (ttl, values) = key, content
    records = [{'Value': value} for value in values]
    return {'Name': f'{name}.{ZONE}', 'Type': type, 'TTL': ttl, 'ResourceRecords': records}


def read():
    found = {}
    for page in client.get_paginator('list_resource_record_sets').paginate(HostedZoneId=zone):
        for one in page['ResourceRecordSets']:
            if one['Name'] != ZONE:
                name = one['Name'].removesuffix(f'.{ZONE}')
                found[(name, one['Type'])] = (one['TTL'], [record['Value'] for record in one['ResourceRecords']])
    return found


def sync(wanted):
    """Brings the zone to the wanted state. Returns the number of changes."""
    there = read()
    changes = [{'Action': 'DELETE', 'ResourceRecordSet': api_form(key, there[key])} for key in there if key not in wanted]
    changes += [
        {'Action': 'UPSERT', 'ResourceRecordSet': api_form(key, wanted[key])}
        for key in wanted
        if there.get(key) != wanted[key]
    ]
    if changes:
        done = client.change_resource_record_sets(HostedZoneId=zone, ChangeBatch={'Comment': 'test', 'Changes': changes})
        info = client.get_change(Id=done['ChangeInfo']['Id'])['ChangeInfo']
        assert info['Status'] == 'PENDING', info
    assert read() == wanted, read()
    return len(changes)


def failure(call, **parameters):
    try:
        call(**parameters)
    except ClientError as error:
        return [error.response['Error']['Code'], error.response['ResponseMetadata']['HTTPStatusCode'], error.response['Error']['Message']]


created = client.create_hosted_zone(Name=ZONE, CallerReference='once')
zone = created['HostedZone']['Id']
assert len(created['DelegationSet']['NameServers']) == 4
assert client.get_hosted_zone(Id=zone)['HostedZone']['ResourceRecordSetCount'] == 2
assert [one['Id'] for one in client.list_hosted_zones_by_name(DNSName=ZONE, MaxItems='1')['HostedZones']] == [zone]
assert zone in [one['Id'] for page in client.get_paginator('list_hosted_zones').paginate(PaginationConfig={'PageSize': 1}) for one in page['HostedZones']]

sets = record_sets(TYPES)
counts = [sync(sets), sync(sets), sync(changed(sets)), sync(changed(sets))]

change = client.change_resource_record_sets
batch = lambda action, name, type, value: {
    'HostedZoneId': zone,
    'ChangeBatch': {'Changes': [{'Action': action, 'ResourceRecordSet': api_form((name, type), (300, [value]))}]},
}
failures = [
    failure(client.create_hosted_zone, Name=ZONE, CallerReference='once'),
    failure(client.get_hosted_zone, Id='ZNONE'),
    failure(change, **batch('CREATE', 'd0', 'A', '192.0.2.99')),
    failure(change, **batch('DELETE', 'd0', 'A', '192.0.2.99')),
    failure(change, **batch('DELETE', 'none', 'A', '192.0.2.99')),
    failure(change, **batch('CREATE', 'd0', 'CNAME', 'x.example.')),
    failure(change, **batch('CREATE', 'new', 'A', 'x')),
    failure(change, **batch('CREATE', 'new', 'TXT', 'unquoted')),
]
wild = client.change_resource_record_sets(**batch('CREATE', '*', 'A', '192.0.2.1'))
names = [one['Name'] for one in client.list_resource_record_sets(HostedZoneId=zone, StartRecordName=f'*.{ZONE}', MaxItems='1')['ResourceRecordSets']]
print(json.dumps({'counts': counts, 'failures': failures, 'names': names}))
