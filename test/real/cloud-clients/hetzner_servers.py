"""
Manages servers at Hetzner with hcloud. Arguments: the address of the API, the token, a public SSH key, and the name of a server that exists.
Prints what it read as JSON.
"""

import json
import sys

from hcloud import APIException, Client
from hcloud.images import Image
from hcloud.locations import Location
from hcloud.server_types import ServerType

url, token, public_key, existing = sys.argv[1:]
client = Client(token=token, api_endpoint=url, poll_interval=0.01)


def failure(call):
    try:
        call()
    except APIException as error:
        return error.code


there = client.servers.get_by_name(existing)
read = {
    'id': there.id,
    'status': there.status,
    'type': there.server_type.name,
    'location': there.location.name,
    'image': there.image.name,
    'labels': there.labels,
    'ipv4': there.public_net.ipv4.ip,
    'backups': there.backup_window is not None,
    'commands': [action.command for action in there.get_actions(sort=['id:asc'])],
}

key = client.ssh_keys.create(name='python', public_key=public_key)
created = client.servers.create(
    name='python-1',
    server_type=ServerType(name='cx22'),
    image=Image(name='debian-12'),
    location=Location(name='nbg1'),
    ssh_keys=[key],
    labels={'made': 'python'},
    user_data='#cloud-config',
)
created.action.wait_until_finished()
for action in created.next_actions:
    action.wait_until_finished()
server = client.servers.get_by_id(created.server.id)
statuses = [server.status]
for act in (server.power_off, server.power_on, server.reboot, server.reset, server.shutdown):
    act().wait_until_finished()
    statuses.append(client.servers.get_by_id(server.id).status)
server.change_type(ServerType(name='cx32'), upgrade_disk=False).wait_until_finished()
server.enable_backup().wait_until_finished()
server.enable_rescue(type='linux64', ssh_keys=[key.id]).action.wait_until_finished()
server.rebuild(Image(name='ubuntu-24.04')).action.wait_until_finished()
server = server.update(name='python-2', labels={'made': 'python', 'changed': 'yes'})
snapshot = server.create_image(description='by Python', type='snapshot')
snapshot.action.wait_until_finished()
server.change_protection(delete=True, rebuild=True).wait_until_finished()
failures = [
    failure(lambda: Client(token='wrong', api_endpoint=url).servers.get_all()),
    failure(lambda: client.servers.get_by_id(1)),
    failure(lambda: server.delete()),
    failure(lambda: server.change_type(ServerType(name='cx42'), upgrade_disk=True)),
    failure(lambda: client.servers.create(name=existing, server_type=ServerType(name='cx22'), image=Image(name='debian-12'))),
    failure(lambda: client.servers.create(name='under_score', server_type=ServerType(name='cx22'), image=Image(name='debian-12'))),
    failure(lambda: client.ssh_keys.create(name='again', public_key=public_key)),
]
server = client.servers.get_by_id(server.id)
images = [image.description for image in client.images.get_all(type=['snapshot'])]
print(
    json.dumps(
        {
            'read': read,
            'statuses': statuses,
            'failures': failures,
            'server': [server.name, server.server_type.name, server.image.name, server.labels, server.protection, server.rescue_enabled],
            'selected': [one.name for one in client.servers.get_all(label_selector='made=python')],
            'images': images,
            'types': sorted(one.name for one in client.server_types.get_all()),
            'stock': [[place.location.name, place.available] for place in client.server_types.get_by_name('cx22').locations],
            'locations': [one.name for one in client.locations.get_all()],
            'finished': [client.actions.get_by_id(one.id).status for one in (created.action, snapshot.action)],
        }
    )
)
server.change_protection(delete=False, rebuild=False).wait_until_finished()
server.delete().wait_until_finished()
