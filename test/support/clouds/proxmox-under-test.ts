import { proxmox } from '../../../src/features/servers/clouds/proxmox/proxmox'
import type { Cloud } from '../../../src/features/servers/clouds/cloud'
import type { ApiFault, ApiRequest } from '../api-double'
import { pluginContext } from '../plugin-context'
import type { CloudUnderTest } from './cloud-contract'
import { allPrivileges, type ProxmoxCloud } from './proxmox-cloud'

export const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPbkb5oEVVE1dL0j2FbZVJbGOC9JjzLMDvCbHO0wR2mX a+b@test'

/** Opens the account of a double. */
export const opened = (double: ProxmoxCloud, more: object = {}): Cloud =>
  proxmox.open({ url: double.address, token_id: double.tokenId, token_secret: double.secret, ...more }, pluginContext())

/** A template of virtual machines with a drive for cloud-init. */
export const template = (double: ProxmoxCloud, vmid: number, name: string) =>
  double.guest(vmid, name, { template: true, config: { ide2: `local-lvm:vm-${vmid}-cloudinit,media=cdrom`, tags: 'templates' } })

/** Changes what the list, and the node of a guest, report of it. */
const withGuest = (one: any, path: string, ref: string, change: object) => {
  if (path === '/cluster/resources')
    return { data: one.data.map((row: any) => (String(row.vmid) === ref ? { ...row, ...change } : row)) }
  return path.endsWith(`/${ref}/status/current`) ? { data: { ...one.data, ...change } } : one
}

/** The double of Proxmox, for the contract suite. */
export function proxmoxUnderTest(double: ProxmoxCloud): CloudUnderTest {
  template(double, 9000, 'debian-12')
  template(double, 9001, 'ubuntu-24.04')
  const changing = (fault: ApiFault) => (request: ApiRequest) => (request.method === 'GET' ? null : fault)
  const gib = 2 ** 30
  return {
    kind: proxmox,
    cloud: opened(double),
    reopen: () => opened(double),
    unauthorized: opened(double, { token_secret: '00000000-0000-4000-8000-000000000000' }),
    unreachable: opened(double, { url: 'http://127.0.0.1:1' }),
    secrets: [double.secret],
    offer: {
      ...{ location: 'pve1', size: { cores: 1, memoryBytes: gib, diskBytes: 10 * gib } },
      ...{ image: '9000', otherImage: '9001', sshKeys: [{ name: 'test', publicKey }] },
      otherSize: { cores: 4, memoryBytes: 4 * gib, diskBytes: 20 * gib },
    },
    lacks: [],
    names: {
      refused: ['', 'under_score', '-web', 'web-', 'a b', 'ä', 'a..b'],
      accepted: ['web-1.example.com', 'Web', '1', `${'a'.repeat(63)}.example`],
    },
    pause: async () => await Bun.sleep(1),
    outside: {
      async create(name) {
        let vmid = 5000
        while (double.guests.has(vmid)) vmid++
        double.guest(vmid, name)
        return String(vmid)
      },
      async rename(ref, name) {
        double.guests.get(Number(ref))!.config.name = name
        return ref
      },
      remove: async ref => double.guests.delete(Number(ref)),
    },
    firewalls: {
      isAllowed: (ref, packet) => double.isAllowed(double.guests.get(Number(ref))!, packet),
      async empty(id) {
        for (const guest of double.guests.values()) {
          const firewall = double.firewallOf(guest)
          firewall.rules = firewall.rules.filter(one => !one.comment?.startsWith(id))
        }
      },
    },
    trouble: {
      respond: raw => (double.fault = () => ({ raw })),
      throttle: seconds =>
        (double.fault = () => ({ raw: { status: 429, body: '', headers: { 'retry-after': String(seconds) } } })),
      forbid: () => (double.privileges = { '/vms': ['VM.Audit'], '/storage': ['Datastore.Audit'] }),
      lock: () =>
        (double.fault = changing({
          status: 500,
          code: '',
          message: "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout",
        })),
      lose: () => (double.fault = changing('lost')),
      drop: () => (double.fault = changing('dropped')),
      // As while its cluster file system starts: no guests, and the own node is not known to be online.
      shorten: () =>
        (double.answered = (one, { path }) =>
          path === '/cluster/resources' ? { data: [{ id: 'node/pve1', type: 'node', node: 'pve1', status: 'unknown' }] } : one),
      bloat: ref => (double.answered = (one, { path }) => withGuest(one, path, ref, { name: 'x'.repeat(5_000_000) })),
      exaggerate: ref =>
        (double.answered = (one, { path }) =>
          path.endsWith('/config')
            ? { data: { ...one.data, cores: 1e300, sockets: 1e300, memory: '9'.repeat(300), scsi0: 'local-lvm:vm-1-disk-0' } }
            : withGuest(one, path, ref, { maxcpu: 1e300, cpus: 1e300, maxmem: 1e300, maxdisk: 1e300 })),
      forget: () => double.tasks.forget(),
      fail: () => (double.tasks.fault = () => 'start failed: QEMU exited with code 1'),
      oddStatus(ref) {
        double.guests.get(Number(ref))!.status = 'hibernating'
        return 'hibernating'
      },
      calm() {
        double.fault = () => null
        double.answered = one => one
        double.tasks.fault = () => null
        double.privileges = structuredClone(allPrivileges)
        for (const guest of double.guests.values()) if (guest.status === 'hibernating') guest.status = 'stopped'
      },
    },
    stop: () => double.stop(),
  }
}
