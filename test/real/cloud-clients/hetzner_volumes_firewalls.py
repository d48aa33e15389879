"""
Manages volumes and firewalls at Hetzner with hcloud. Arguments: the address of the API, the token, and the name of a server in fsn1. Prints
what it read as JSON.
"""

import json
import sys

from hcloud import APIException, Client
from hcloud.firewalls import FirewallResource, FirewallResourceLabelSelector, FirewallRule
from hcloud.locations import Location

url, token, name = sys.argv[1:]
client = Client(token=token, api_endpoint=url, poll_interval=0.01)
server = client.servers.get_by_name(name)


def failure(call):
    try:
        call()
    except APIException as error:
        return error.code


def finish(actions):
    for action in actions:
        action.wait_until_finished()


created = client.volumes.create(size=10, name='data', server=server, format='ext4', automount=True, labels={'made': 'python'})
finish([created.action, *created.next_actions])
volume = client.volumes.get_by_id(created.volume.id)
attached = [volume.status, volume.server.id == server.id, volume.format, volume.location.name, volume.linux_device]
finish([volume.resize(20)])
failures = [
    failure(lambda: volume.resize(15)),
    failure(lambda: volume.attach(server)),
    failure(lambda: volume.delete()),
    failure(lambda: client.volumes.create(size=5, name='small', location=Location(name='fsn1'))),
    failure(lambda: client.volumes.create(size=10, name='data', location=Location(name='fsn1'))),
]
finish([volume.detach()])
finish([volume.attach(server)])
finish([volume.detach()])
finish([volume.change_protection(delete=True)])
failures.append(failure(lambda: volume.delete()))
finish([volume.change_protection(delete=False)])
volume = volume.update(name='data-2')
volumes = [[one.name, one.size, one.server] for one in client.volumes.get_all(label_selector='made=python')]
client.volumes.delete(volume)

ssh = FirewallRule(direction='in', protocol='tcp', port='22', source_ips=['192.0.2.0/24', '2001:0db8::/32'], description='SSH')
web = FirewallRule(direction='in', protocol='tcp', port='8000-8010', source_ips=['0.0.0.0/0'])
made = client.firewalls.create(
    name='web',
    rules=[ssh],
    resources=[FirewallResource(type='server', server=server)],
)
finish(made.actions)
firewall = made.firewall
finish(firewall.set_rules([ssh, web]))
firewall = client.firewalls.get_by_name('web')
rules = [[one.protocol, one.port, one.source_ips, one.description] for one in firewall.rules]
applied = [one.server.id == server.id for one in firewall.applied_to]
on_server = [one.status for one in client.servers.get_by_id(server.id).public_net.firewalls]
failures += [
    failure(lambda: firewall.set_rules([FirewallRule(direction='in', protocol='tcp', port='443-80', source_ips=['0.0.0.0/0'])])),
    failure(lambda: firewall.set_rules([FirewallRule(direction='in', protocol='icmp', port='1', source_ips=['0.0.0.0/0'])])),
    failure(lambda: firewall.set_rules([FirewallRule(direction='in', protocol='tcp', port='1', source_ips=['192.0.2.1/24'])])),
    failure(lambda: firewall.apply_to_resources([FirewallResource(type='server', server=server)])),
    failure(lambda: firewall.delete()),
    failure(lambda: client.firewalls.create(name='web')),
]
selector = FirewallResource(type='label_selector', label_selector=FirewallResourceLabelSelector(selector='role=web'))
finish(firewall.apply_to_resources([selector]))
finish(firewall.remove_from_resources([FirewallResource(type='server', server=server)]))
failures.append(failure(lambda: firewall.remove_from_resources([FirewallResource(type='server', server=server)])))
selected = [[one.type, len(one.applied_to_resources)] for one in client.firewalls.get_by_id(firewall.id).applied_to]
print(
    json.dumps(
        {
            'attached': attached[:4],
            'device': attached[4].removesuffix(str(created.volume.id)),
            'volumes': volumes,
            'rules': rules,
            'applied': applied,
            'on_server': on_server,
            'selected': selected,
            'failures': failures,
        }
    )
)
