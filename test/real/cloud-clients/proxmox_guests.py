"""
Drives Proxmox VE with proxmoxer. Arguments: host and port, user, name and secret of the API token, a file with the CA certificate, and the
VMID of a guest that the adapter created.
"""

import json
import sys
from urllib.parse import quote

from proxmoxer import ProxmoxAPI, ResourceException
from proxmoxer.tools import Tasks

host, user, token_name, secret, ca, theirs = sys.argv[1:]
api = ProxmoxAPI(host, user=user, token_name=token_name, token_value=secret, verify_ssl=ca)
node = api.nodes('pve1')


def wait(upid):
    """Waits for a task. Returns its exit status."""
    return Tasks.blocking_status(api, upid, polling_interval=0.01)['exitstatus']


def failure(call):
    """Returns the status and the message of the error of a call, or the names of the parameters that are wrong."""
    try:
        call()
    except ResourceException as error:
        return [error.status_code, sorted(error.errors) if error.errors else error.content]


def seen():
    rows = api.cluster.resources.get(type='vm')
    return sorted([row['vmid'], row['type'], row['name'], row['status']] for row in rows if not row['template'])


before = seen()
config = node.qemu(theirs).config.get()
interfaces = node.qemu(theirs).agent('network-get-interfaces').get()['result']

vmid = api.cluster.nextid.get()
tasks = [wait(node.qemu(9000).clone.post(newid=vmid, name='by-proxmoxer', description='Made by proxmoxer'))]
guest = node.qemu(vmid)
guest.config.put(cores=4, memory=4096, tags='web;prod', sshkeys=quote('ssh-ed25519 AAAA a+b@test', safe=''), ipconfig0='ip=dhcp')
tasks.append(wait(guest.resize.put(disk='scsi0', size='+4G')))
for verb in ('start', 'suspend', 'resume', 'reset', 'reboot'):
    tasks.append(wait(guest.status(verb).post()))
running = guest.status.current.get()
tasks.append(wait(guest.status.shutdown.post(timeout=5, forceStop=1)))

container = node.lxc(api.cluster.nextid.get())
tasks.append(wait(node.lxc(9003).clone.post(newid=container._store['base_url'].rsplit('/', 1)[1], hostname='container')))
tasks.append(wait(container.status.start.post()))
addresses = [address['ip-address'] for one in container.interfaces.get() for address in one['ip-addresses']]
tasks.append(wait(container.status.stop.post()))

upid = guest.status.start.post()
wait(upid)
wait(guest.status.start.post())
log = Tasks.decode_log(api.nodes('pve1').tasks(Tasks.decode_upid(upid)['upid']).log.get())
history = [[one['type'], one['status']] for one in node.tasks.get(vmid=vmid, limit=3)]

failures = [
    failure(lambda: guest.config.put(cores=0, colour='red')),
    failure(lambda: node.qemu(9000).clone.post(newid=vmid)),
    failure(lambda: node.qemu(999).status.start.post()),
    failure(lambda: guest.delete()),
    failure(lambda: api.nodes('pve9').qemu.get()),
    failure(lambda: api.version.nothing.get()),
    failure(lambda: ProxmoxAPI(host, user=user, token_name=token_name, token_value='no', verify_ssl=ca).version.get()),
]

print(
    json.dumps(
        {
            'version': api.version.get()['version'],
            'before': before,
            'description': config['description'],
            'interfaces': [one['name'] for one in interfaces],
            'tasks': tasks,
            'running': [running['status'], running['qmpstatus'], running['cpus'], running['maxdisk'] // 2**30],
            'addresses': addresses,
            'log': log,
            'history': history,
            'failures': failures,
            'privileges': sorted(api.access.permissions.get()['/vms'])[:2],
            'nodes': [[one['node'], one['status']] for one in api.nodes.get()],
            'storages': sorted(one['storage'] for one in node.storage.get()),
            'bridges': [one['iface'] for one in node.network.get(type='any_bridge')],
            'guests': sorted(one['vmid'] for one in node.qemu.get()),
            'after': seen(),
        }
    )
)
