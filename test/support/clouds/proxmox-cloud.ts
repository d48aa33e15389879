import { inRanges, parseAddress, parseRange } from '../../../src/core/net/address'
import { ApiDouble, type ApiRequest, type ApiResponse } from '../api-double'
import {
  bootDisk,
  clonedConfig,
  configure,
  deleteSnapshot,
  denied,
  failed,
  nameKey,
  powerOff,
  powerOn,
  privilegesOfOption,
  ProxmoxRefused,
  resize,
  rollBack,
  snapshotNamed,
  statsOf,
  takeSnapshot,
  wordOf,
  wrongParameters,
  type ProxmoxGuest,
} from './proxmox-guests'
import type { Probe } from '../random-rules'
import { callOf, missingPrivilege, parameterErrors, responseOffence } from './proxmox-schema'
import { ProxmoxTasks } from './proxmox-tasks'

type Values = Record<string, string>

const modified = 'detected modified configuration - file changed by other user? Try again.'

/** A rule of the firewall of a guest, as it was sent. */
interface FirewallRule {
  type: string
  action: string
  enable?: string
  proto?: string
  dport?: string
  source?: string
  dest?: string
  comment?: string
}

/** What a token with all that the adapter needs may do, by path. */
export const allPrivileges = {
  '/vms': [
    ...['VM.Audit', 'VM.Clone', 'VM.Allocate', 'VM.PowerMgmt', 'VM.Snapshot', 'VM.Snapshot.Rollback', 'VM.GuestAgent.Audit'],
    ...['CPU', 'Memory', 'Disk', 'Network', 'Options', 'Cloudinit'].map(one => `VM.Config.${one}`),
  ],
  '/storage': ['Datastore.Audit', 'Datastore.AllocateSpace'],
  '/sdn': ['SDN.Use'],
}

/**
 * A cluster of Proxmox VE, on a free local port. Requests and responses are checked against the published schema of the API, and the
 * privileges of the token as the schema asks for.
 */
export class ProxmoxCloud extends ApiDouble {
  readonly tokenId = 'bailiwick@pve!hub'
  readonly secret = 'd3c1f2a4-5b6e-4788-9a0b-c1d2e3f4a5b6'
  version = '9.1.4'
  /** Privileges of the token by path. They apply below it, too. */
  privileges: Record<string, string[]> = structuredClone(allPrivileges)
  readonly guests = new Map<number, ProxmoxGuest>()
  readonly nodes = new Map<string, { online: boolean }>()
  readonly tasks = new ProxmoxTasks()
  /** Storages; `shared`: on all nodes. */
  readonly storages = new Map<string, { shared: boolean; type?: string }>([
    ['local-lvm', { shared: false }],
    ['ceph', { shared: true }],
  ])
  readonly bridges = [
    { iface: 'vmbr0', cidr: '10.0.0.2/24' },
    { iface: 'vmbr1', cidr: '' },
  ]
  readonly pools = new Set<string>()
  /** How clones of a template that is being cloned fail: the call or its task; null if they don't. */
  cloneLock: 'call' | 'task' | null = 'call'
  /** Whether errors are only in the status line, as in versions before 8.4. */
  silentBodies = false
  /** Whether guests are listed with statistics of the past, until `collectStats` is called. */
  statsLag = false
  /** Whether firewalls are switched on for the datacenter. */
  isFiltering = true
  readonly #firewalls = new Map<number, { options: Record<string, string | number>; rules: FirewallRule[] }>()
  readonly #stats = new Map<number, Record<string, unknown>>()

  /** @param tls certificate and key in PEM, for https */
  constructor(tls?: { cert: string; key: string }) {
    super('/api2/json', tls)
    this.nodes.set('pve1', { online: true })
  }

  /** Value of the setting `url`. */
  get address(): string {
    return this.url.replace('/api2/json', '')
  }

  /** Adds a guest. The boot disk is on storage `local-lvm`, if not `config` says otherwise. */
  guest(vmid: number, name: string, more: Partial<ProxmoxGuest> = {}): ProxmoxGuest {
    const { type = 'qemu', template = false } = more
    const volume = `local-lvm:${template ? 'base' : 'vm'}-${vmid}-disk-0,size=8G`
    const shared = { [nameKey({ type })]: name, cores: '2', memory: '2048' }
    const guest: ProxmoxGuest = {
      ...{ vmid, type, template, node: 'pve1', status: 'stopped', lock: null, pool: null, live: null },
      ...{ agentRuns: true, addresses: [], ignoresShutdown: false, startedAt: 0, snapshots: [] },
      ...more,
      config: {
        ...shared,
        ...(type === 'qemu'
          ? {
              smbios1: `uuid=${crypto.randomUUID()}`,
              scsi0: volume,
              boot: 'order=scsi0;net0',
              agent: '1',
              net0: 'virtio=BC:24:11:AA:00:01,bridge=vmbr0,firewall=1',
            }
          : { rootfs: volume, net0: 'name=eth0,bridge=vmbr0,hwaddr=BC:24:11:AA:00:01,ip=dhcp,type=veth' }),
        ...more.config,
      },
    }
    if (guest.status !== 'stopped') Object.assign(guest, { live: null, startedAt: Date.now() })
    this.guests.set(vmid, guest)
    return guest
  }

  /** The firewall of a guest. */
  firewallOf({ vmid }: ProxmoxGuest) {
    if (!this.#firewalls.has(vmid)) this.#firewalls.set(vmid, { options: {}, rules: [] })
    return this.#firewalls.get(vmid)!
  }

  /** Whether the firewall of a guest lets a packet pass. */
  isAllowed(guest: ProxmoxGuest, { direction, protocol, port, address }: { direction: 'in' | 'out' } & Probe): boolean {
    const { options, rules } = this.firewallOf(guest)
    if (options.enable !== 1) return true
    const name = protocol === 'icmp' && address.includes(':') ? 'ipv6-icmp' : protocol
    const matching = rules.find(rule => {
      const ports = rule.dport?.split(',').map(one => one.split(':').map(Number))
      const networks = (direction === 'in' ? rule.source : rule.dest)?.split(',').map(one => parseRange(one)!)
      return (
        rule.type === direction &&
        rule.enable === '1' &&
        (rule.proto === undefined || rule.proto === name) &&
        (ports === undefined || (port !== null && ports.some(([low = 0, high = low]) => port >= low && port <= high))) &&
        (networks === undefined || inRanges(parseAddress(address)!, networks))
      )
    })
    const policy = direction === 'in' ? (options.policy_in ?? 'DROP') : (options.policy_out ?? 'ACCEPT')
    return (matching?.action ?? policy) === 'ACCEPT'
  }

  /** Updates the statistics that guests are listed with, which Proxmox does every 10 seconds. */
  collectStats(): void {
    this.#stats.clear()
    for (const guest of this.guests.values()) if (this.nodes.get(guest.node)?.online) this.#stats.set(guest.vmid, statsOf(guest))
  }

  protected answer(request: ApiRequest, fault: Parameters<ApiDouble['answer']>[1]): ApiResponse {
    try {
      this.#refuseCaller(request)
      if (fault === 'throttled') throw new ProxmoxRefused(429, 'Too Many Requests')
      if (fault) throw new ProxmoxRefused(fault.status, fault.message ?? fault.code)
      return { status: 200, body: { data: this.#answered(request) ?? null } }
    } catch (error) {
      if (!(error instanceof ProxmoxRefused)) throw error
      const { status, message, errors } = error
      // What another node should have answered has no body.
      if (status > 590) return { status, reason: message }
      const headers = status === 429 && { headers: { 'retry-after': '30' } }
      return {
        status,
        reason: message,
        ...headers,
        body: { data: null, ...(!this.silentBodies && { message: `${message}\n` }), ...(errors && { errors }) },
      }
    }
  }

  #refuseCaller({ headers, path }: ApiRequest): void {
    const [, id, secret] = /^PVEAPIToken=([^=]+)=(.+)$/.exec(headers.authorization ?? '') ?? []
    if (id === undefined) throw new ProxmoxRefused(401, 'No ticket')
    if (id !== this.tokenId) throw new ProxmoxRefused(401, `no such token '${id.split('!')[1]}' for user '${id.split('!')[0]}'`)
    if (secret !== this.secret) throw new ProxmoxRefused(401, 'invalid token value!')
    if (!path.startsWith('/')) throw new ProxmoxRefused(404, `no such file '${path}'`)
  }

  /** Whether the token has a privilege, also by the pool of a guest. */
  has(path: string, privilege: string): boolean {
    const pool = this.guests.get(Number(/^\/vms\/(\d+)$/.exec(path)?.[1]))?.pool
    return Object.entries(this.privileges).some(
      ([above, all]) =>
        all.includes(privilege) &&
        (above === '/' ||
          `${path}/`.startsWith(`${above}/`) ||
          (pool !== null && pool !== undefined && above === `/pool/${pool}`)),
    )
  }

  #answered(request: ApiRequest): unknown {
    this.tasks.settle()
    const { method, path, query, text } = request
    const found = callOf(method, path)
    if (!found) throw new ProxmoxRefused(501, `Method '${method} ${path}' not implemented`)
    const { template, call, inPath } = found
    const type = String(request.headers['content-type'] ?? '')
    if (text !== '' && !type.startsWith('application/x-www-form-urlencoded')) throw failed(`unsupported content type '${type}'`)
    const values: Values = { ...Object.fromEntries(query), ...Object.fromEntries(new URLSearchParams(text)), ...inPath }
    const errors = parameterErrors(call, values)
    if (Object.keys(errors).length > 0) throw wrongParameters(errors)
    const missing = missingPrivilege(call.permissions, values, (at, privilege) => this.has(at, privilege))
    if (missing !== null) throw denied(missing)
    if (values.node !== undefined) {
      const node = this.nodes.get(values.node)
      if (!node)
        throw failed(
          `hostname lookup '${values.node}' failed - failed to get address info for: ${values.node}: Name or service not known`,
        )
      if (!node.online) throw new ProxmoxRefused(595, 'No route to host')
    }
    const data = this.#calls[`${method} ${template.replace(/\/(?:qemu|lxc)(?=\/|$)/, '/guest')}`]!(
      values,
      template.includes('/lxc') ? 'lxc' : 'qemu',
    )
    const offence = responseOffence(call, data ?? null)
    if (offence) throw new Error(`${method} ${path}: ${offence}`)
    return data
  }

  readonly #calls: Record<string, (values: Values, type: ProxmoxGuest['type']) => unknown> = {
    'GET /version': () => ({
      version: this.version,
      release: this.version.split('.').slice(0, 2).join('.'),
      repoid: 'f1b4a2c3d4e5f607',
    }),
    'GET /access/permissions': () => this.#permissions(),
    'GET /cluster/resources': ({ type }) => this.#resources(type),
    'GET /cluster/nextid': ({ vmid }) => {
      if (vmid !== undefined && this.guests.has(Number(vmid))) throw wrongParameters({ vmid: `VM ${vmid} already exists` })
      if (vmid !== undefined) return Number(vmid)
      let next = 100
      while (this.guests.has(next)) next++
      return next
    },
    'GET /nodes': () => this.#nodeRows().map(({ node, status }) => ({ node, status, type: 'node', id: `node/${node}` })),
    'GET /nodes/{node}/network': () =>
      this.bridges.map(one => ({ ...one, ...(one.cidr === '' && { cidr: undefined }), type: 'bridge', active: 1 })),
    'GET /nodes/{node}/storage': () =>
      [...this.storages].map(([storage, { shared, type = shared ? 'rbd' : 'lvmthin' }]) => ({
        ...{ storage, shared: Number(shared), type, content: 'images,rootdir' },
        ...{ active: 1, enabled: 1, total: 2 ** 40, used: 2 ** 38, avail: 2 ** 40 - 2 ** 38 },
      })),
    'GET /nodes/{node}/tasks': values => this.tasks.list(values.node!, values),
    'GET /nodes/{node}/tasks/{upid}/status': ({ node, upid }) => this.tasks.status(node!, upid!),
    'GET /nodes/{node}/tasks/{upid}/log': ({ node, upid }) => {
      const { exitstatus } = this.tasks.status(node!, upid!) as { exitstatus?: string }
      return [{ n: 1, t: exitstatus === undefined || exitstatus === 'OK' ? 'TASK OK' : `TASK ERROR: ${exitstatus}` }]
    },
    'GET /nodes/{node}/guest': ({ node }, type) =>
      [...this.guests.values()]
        .filter(one => one.node === node && one.type === type && this.has(`/vms/${one.vmid}`, 'VM.Audit'))
        .map(one => ({ vmid: one.vmid, ...statsOf(one), status: one.status === 'stopped' ? 'stopped' : 'running' })),
    'GET /nodes/{node}/guest/{vmid}/config': (values, type) => {
      const { config, pending, lock, template } = this.#of(values, type)
      return {
        ...config,
        ...(values.current !== '1' && pending),
        digest: digestOf(config),
        ...(lock && { lock }),
        ...(template && { template: 1 }),
      }
    },
    'PUT /nodes/{node}/guest/{vmid}/config': (values, type) => void this.#configure(values, type),
    'POST /nodes/{node}/guest/{vmid}/config': (values, type) => {
      const guest = this.#of(values, type)
      this.#refuseOptions(values)
      return this.#task(guest, 'config', () => this.#configure(values, type))
    },
    'GET /nodes/{node}/guest/{vmid}/status/current': (values, type) => {
      const guest = this.#of(values, type)
      const { name, uptime, maxmem, maxdisk, maxcpu } = statsOf(guest)
      return {
        ...{
          vmid: guest.vmid,
          name,
          uptime,
          maxmem,
          maxdisk,
          cpus: maxcpu,
          status: guest.status === 'stopped' ? 'stopped' : 'running',
        },
        ...{ ha: { managed: 0 }, ...(guest.lock && { lock: guest.lock }), ...(guest.config.tags && { tags: guest.config.tags }) },
        ...(type === 'qemu' && { qmpstatus: guest.status, ...(guest.config.agent?.startsWith('1') && { agent: 1 }) }),
        ...(guest.template && { template: 1 }),
      }
    },
    'GET /nodes/{node}/guest/{vmid}/agent/network-get-interfaces': (values, type) => {
      const guest = this.#of(values, type)
      if (guest.config.agent === undefined) throw failed('No QEMU guest agent configured')
      if (guest.status === 'stopped') throw failed(`VM ${guest.vmid} is not running`)
      if (!guest.agentRuns) throw failed('QEMU guest agent is not running')
      const shown = [
        { family: 4, address: '127.0.0.1' },
        { family: 6, address: '::1' },
      ]
      const all = { lo: shown, eth0: [...guest.addresses, { family: 6, address: 'fe80::be24:11ff:feaa:1' }] }
      return {
        result: Object.entries(all).map(([name, addresses]) => ({
          name,
          'hardware-address': macOf(guest),
          'ip-addresses': addresses.map(one => ({
            'ip-address': one.address,
            'ip-address-type': `ipv${one.family}`,
            prefix: one.family === 4 ? 24 : 64,
          })),
        })),
      }
    },
    'GET /nodes/{node}/guest/{vmid}/interfaces': (values, type) => {
      const guest = this.#of(values, type)
      if (guest.status === 'stopped') return []
      const hardware = { hwaddr: macOf(guest), 'hardware-address': macOf(guest) }
      return [
        { name: 'lo', ...hardware, 'ip-addresses': [{ 'ip-address': '127.0.0.1', 'ip-address-type': 'inet', prefix: 8 }] },
        {
          ...{ name: 'eth0', ...hardware },
          'ip-addresses': guest.addresses.map(one => ({
            'ip-address': one.address,
            'ip-address-type': one.family === 4 ? 'inet' : 'inet6',
            prefix: 24,
          })),
        },
      ]
    },
    'GET /cluster/firewall/options': () => ({ enable: Number(this.isFiltering) }),
    'GET /nodes/{node}/guest/{vmid}/firewall/options': (values, type) => this.firewallOf(this.#of(values, type)).options,
    'PUT /nodes/{node}/guest/{vmid}/firewall/options': (values, type) => {
      const { options } = this.firewallOf(this.#of(values, type))
      const { node: _, vmid: __, digest: ___, delete: removed = '', ...changed } = values
      for (const name of removed.split(',')) delete options[name]
      for (const [name, value] of Object.entries(changed)) options[name] = /^\d+$/.test(value!) ? Number(value) : value!
    },
    'GET /nodes/{node}/guest/{vmid}/firewall/rules': (values, type) => {
      const { rules } = this.firewallOf(this.#of(values, type))
      const digest = digestOf(rules)
      return rules.map((rule, pos) => ({ ...rule, enable: Number(rule.enable ?? 0), pos, digest }))
    },
    'POST /nodes/{node}/guest/{vmid}/firewall/rules': (values, type) => {
      const { node: _, vmid: __, digest: ___, pos: ____, ...rule } = values
      // Whatever its position.
      this.firewallOf(this.#of(values, type)).rules.unshift(rule as unknown as FirewallRule)
    },
    'PUT /nodes/{node}/guest/{vmid}/firewall/rules/{pos}': (values, type) => {
      const { rules, rule, at } = this.#ruleOf(values, type)
      const { node: _, vmid: __, digest: ___, pos: ____, moveto, ...changed } = values
      // Other changes are ignored then.
      if (moveto === undefined) return void Object.assign(rule, changed)
      rules.splice(at, 1)
      rules.splice(Number(moveto) > at ? Number(moveto) - 1 : Number(moveto), 0, rule)
    },
    'DELETE /nodes/{node}/guest/{vmid}/firewall/rules/{pos}': (values, type) => {
      const { rules, at } = this.#ruleOf(values, type)
      rules.splice(at, 1)
    },
    'POST /nodes/{node}/guest/{vmid}/clone': (values, type) => this.#clone(values, this.#of(values, type)),
    'PUT /nodes/{node}/guest/{vmid}/resize': (values, type) => {
      const guest = this.#of(values, type)
      const storage = /^[^:]+/.exec(guest.config[values.disk!] ?? '')?.[0]
      if (storage !== undefined && !this.has(`/storage/${storage}`, 'Datastore.AllocateSpace'))
        throw denied(`/storage/${storage}, Datastore.AllocateSpace`)
      // Containers refuse before there is a task.
      if (type === 'lxc') resize(structuredClone(guest), values.disk!, values.size!)
      return this.#task(guest, 'resize', () => resize(guest, values.disk!, values.size!))
    },
    'GET /nodes/{node}/guest/{vmid}/snapshot': (values, type) => {
      const { snapshots } = this.#of(values, type)
      return [
        ...snapshots.map(({ name, description, vmstate, snaptime, snapstate }) => ({
          ...{ name, description: `${description}\n`, snaptime: snapstate ? 0 : snaptime, snapstate },
          ...(type === 'qemu' && { vmstate: Number(vmstate) }),
        })),
        { name: 'current', description: 'You are here!' },
      ]
    },
    'POST /nodes/{node}/guest/{vmid}/snapshot': (values, type) => {
      const guest = this.#of(values, type)
      const { snapname = '', description = '', vmstate = '0' } = values
      if (guest.snapshots.some(one => one.name === snapname)) throw failed(`snapshot name '${snapname}' already used`)
      return this.#task(guest, 'snapshot', () => takeSnapshot(guest, snapname, description, vmstate === '1'))
    },
    'DELETE /nodes/{node}/guest/{vmid}/snapshot/{snapname}': (values, type) => {
      const guest = this.#of(values, type)
      return this.#task(guest, 'delsnapshot', () => deleteSnapshot(guest, values.snapname!))
    },
    'POST /nodes/{node}/guest/{vmid}/snapshot/{snapname}/rollback': (values, type) => {
      const guest = this.#of(values, type)
      snapshotNamed(guest, values.snapname!)
      const storage = /^[^:]+/.exec(guest.config.scsi0 ?? '')?.[0] ?? ''
      const isZfs = this.storages.get(storage)?.type === 'zfspool'
      if (isZfs && guest.snapshots.at(-1)?.name !== values.snapname)
        throw failed(`can't rollback, '${values.snapname}' is not most recent snapshot on '${storage}'`)
      return this.#task(guest, 'rollback', () => rollBack(guest, values.snapname!, values.start === '1'))
    },
    'DELETE /nodes/{node}/guest/{vmid}': (values, type) => {
      const guest = this.#of(values, type)
      const word = wordOf(guest)
      if (guest.config.protection === '1') throw failed(`can't remove ${word} ${guest.vmid} - protection mode enabled`)
      if (guest.status !== 'stopped' && values.force !== '1')
        throw failed(
          type === 'qemu'
            ? `VM ${guest.vmid} is running - destroy failed`
            : `unable to destroy CT ${guest.vmid} - container is running`,
        )
      return this.#task(guest, 'destroy', () => {
        // Whatever has the VMID when it gets the lock.
        const there = this.#of(values, type)
        if (there.lock) throw failed(`${word} is locked (${there.lock})`)
        if (there.status !== 'stopped' && values.force !== '1') throw failed(`VM ${there.vmid} is running - destroy failed`)
        this.guests.delete(there.vmid)
      })
    },
    'POST /nodes/{node}/guest/{vmid}/status/start': (values, type) => {
      const guest = this.#of(values, type)
      const running = `${wordOf(guest)} ${guest.vmid} already running`
      if (type === 'lxc' && guest.status !== 'stopped') throw failed(running)
      return this.#task(guest, 'start', () => {
        if (guest.lock) throw failed(`${wordOf(guest)} is locked (${guest.lock})`)
        if (guest.template) throw failed(`you can't start a ${type === 'qemu' ? 'vm' : 'CT'} if it's a template`)
        if (guest.status !== 'stopped') throw failed(running)
        powerOn(guest)
      })
    },
    'POST /nodes/{node}/guest/{vmid}/status/stop': (values, type) => {
      const guest = this.#of(values, type)
      if (type === 'lxc') this.#refuseStopped(guest)
      return this.#task(guest, 'stop', () => powerOff(guest))
    },
    'POST /nodes/{node}/guest/{vmid}/status/shutdown': (values, type) => {
      const guest = this.#of(values, type)
      if (type === 'lxc') this.#refuseStopped(guest)
      if (guest.status === 'paused' && values.forceStop !== '1') throw failed('VM is paused - cannot shutdown')
      return this.#task(guest, 'shutdown', () => {
        if (guest.ignoresShutdown && guest.status !== 'stopped' && values.forceStop !== '1')
          throw failed(type === 'qemu' ? 'VM quit/powerdown failed - got timeout' : 'container did not stop')
        powerOff(guest)
      })
    },
    'POST /nodes/{node}/guest/{vmid}/status/reboot': (values, type) => {
      const guest = this.#of(values, type)
      if (guest.status === 'paused') throw failed('VM is paused - cannot shutdown')
      this.#refuseStopped(guest, 'VM')
      return this.#task(guest, 'reboot', () => powerOn(guest))
    },
    'POST /nodes/{node}/guest/{vmid}/status/reset': (values, type) => {
      const guest = this.#of(values, type)
      this.#refuseStopped(guest)
      return this.#task(guest, 'reset', () => (guest.startedAt = Date.now()))
    },
    'POST /nodes/{node}/guest/{vmid}/status/suspend': (values, type) => {
      const guest = this.#of(values, type)
      this.#refuseStopped(guest)
      return this.#task(guest, type === 'qemu' ? 'pause' : 'suspend', () => (guest.status = 'paused'))
    },
    'POST /nodes/{node}/guest/{vmid}/status/resume': (values, type) => {
      const guest = this.#of(values, type)
      this.#refuseStopped(guest)
      return this.#task(guest, 'resume', () => (guest.status = 'running'))
    },
  }

  #of({ node, vmid }: Values, type: ProxmoxGuest['type']): ProxmoxGuest {
    const guest = this.guests.get(Number(vmid))
    if (!guest || guest.node !== node || guest.type !== type)
      throw failed(`Configuration file 'nodes/${node}/${type === 'qemu' ? 'qemu-server' : 'lxc'}/${vmid}.conf' does not exist`)
    return guest
  }

  #ruleOf(values: Values, type: ProxmoxGuest['type']) {
    const { rules } = this.firewallOf(this.#of(values, type))
    const at = Number(values.pos)
    if (values.digest !== undefined && values.digest !== digestOf(rules)) throw failed(modified)
    if (!rules[at]) throw failed(`no rule at position ${values.pos}`)
    return { rules, rule: rules[at], at }
  }

  #refuseStopped(guest: ProxmoxGuest, word = wordOf(guest)): void {
    if (guest.status === 'stopped') throw failed(`${word} ${guest.vmid} not running`)
  }

  #task(guest: ProxmoxGuest, verb: string, work: () => void, undo?: () => void): string {
    return this.tasks.start(
      guest.node,
      `${guest.type === 'qemu' ? 'qm' : 'vz'}${verb}`,
      String(guest.vmid),
      this.tokenId,
      work,
      undo,
    )
  }

  #refuseOptions(values: Values): void {
    const { vmid, delete: removed = '' } = values
    const changed = Object.keys(values).filter(one => !['node', 'vmid', 'delete', 'digest'].includes(one))
    for (const option of [...changed, ...removed.split(/[,; ]+/).filter(one => one !== '')]) {
      const needed = privilegesOfOption(option)
      if (!needed.some(one => this.has(`/vms/${vmid}`, one))) throw denied(`/vms/${vmid}, ${needed.join('|')}`)
    }
  }

  #configure(values: Values, type: ProxmoxGuest['type']): void {
    const guest = this.#of(values, type)
    this.#refuseOptions(values)
    if (values.digest !== undefined && values.digest !== digestOf(guest.config)) throw failed(modified)
    const options = { ...values }
    for (const option of ['node', 'vmid', 'digest']) delete options[option]
    for (const [option, value] of Object.entries(options)) if (/^net\d+$/.test(option)) this.#refuseBridge(value)
    configure(guest, options)
  }

  #refuseBridge(net: string): void {
    const bridge = /bridge=([\w.-]+)/.exec(net)?.[1]
    if (bridge !== undefined && !this.has(`/sdn/zones/localnetwork/${bridge}`, 'SDN.Use'))
      throw denied(`/sdn/zones/localnetwork/${bridge}, SDN.Use`)
  }

  #clone(values: Values, source: ProxmoxGuest): string {
    const { target = source.node, pool, storage, full, description } = values
    const { type, template } = source
    const newid = Number(values.newid)
    if (pool !== undefined && !this.pools.has(pool)) throw failed(`pool '${pool}' does not exist`)
    if (!this.nodes.has(target)) throw wrongParameters({ target: `target: no such cluster node '${target}'` })
    if (storage !== undefined && !this.storages.has(storage)) throw failed(`storage '${storage}' does not exist`)
    const isFull = full === undefined ? !template : full === '1'
    if (storage !== undefined && !isFull) throw failed("parameter 'storage' not allowed for linked clones")
    const disk = bootDisk(source)
    const from = /^[^:]+/.exec(source.config[disk]!)![0]
    const used = storage ?? from
    if (!this.has(`/storage/${used}`, 'Datastore.AllocateSpace')) throw denied(`/storage/${used}, Datastore.AllocateSpace`)
    for (const [option, value] of Object.entries(source.config)) if (/^net\d+$/.test(option)) this.#refuseBridge(value)
    if (target !== source.node && !(this.storages.get(from)?.shared && this.storages.get(used)?.shared))
      throw failed(`can't clone ${wordOf(source)} to node '${target}' (${wordOf(source)} uses local storage)`)
    const lockFile = `can't lock file '/var/lock/${type === 'qemu' ? 'qemu-server/lock' : 'lxc/pve-config'}-${source.vmid}.conf' - got timeout`
    const isBusy = this.tasks.isRunning(one => one.type.endsWith('clone') && one.id === String(source.vmid))
    if (isBusy && this.cloneLock === 'call') throw failed(lockFile)
    if (this.guests.has(newid)) {
      const there = this.guests.get(newid)!
      throw failed(
        there.node === source.node
          ? `unable to create VM ${newid}: config file already exists`
          : `unable to create VM ${newid} - VM ${newid} already exists on node '${there.node}'`,
      )
    }
    if (isBusy && this.cloneLock === 'task')
      return this.#task(source, 'clone', () => {
        throw failed(lockFile)
      })
    // The name and description are not written before the first disk is copied.
    const clone: ProxmoxGuest = {
      ...{
        vmid: newid,
        type,
        node: source.node,
        status: 'stopped',
        template: false,
        config: {},
        lock: type === 'qemu' ? 'clone' : 'create',
      },
      ...{
        live: null,
        pool: pool ?? null,
        agentRuns: true,
        addresses: [{ family: 4, address: `10.0.0.${newid % 250}` }],
        ignoresShutdown: false,
        snapshots: [],
        startedAt: 0,
      },
    }
    this.guests.set(newid, clone)
    const config = clonedConfig(source, newid, { [nameKey(source)]: values[nameKey(source)], description })
    config[disk] = config[disk]!.replace(/^[^:]+/, used)
    const work = () => void Object.assign(clone, { config, lock: null, node: target })
    return this.#task(source, 'clone', work, () => this.guests.delete(newid))
  }

  #permissions(): object {
    const top = ['/', '/access', '/nodes', '/pool', '/sdn', '/storage', '/vms']
    const pooled = [...this.guests.values()].filter(one => one.pool !== null).map(one => `/vms/${one.vmid}`)
    const all = new Set([...top, ...Object.keys(this.privileges), ...pooled])
    const known = new Set(Object.values(this.privileges).flat())
    const shown = [...all].map(
      path => [path, Object.fromEntries([...known].filter(one => this.has(path, one)).map(one => [one, 1]))] as const,
    )
    return Object.fromEntries(shown.filter(([, privileges]) => Object.keys(privileges).length > 0))
  }

  #nodeRows() {
    return [...this.nodes].map(([node, { online }]) => ({
      ...{ id: `node/${node}`, node, type: 'node', status: online ? 'online' : 'offline' },
      ...(online && { maxcpu: 16, maxmem: 2 ** 37, maxdisk: 2 ** 40, uptime: 86_400 }),
    }))
  }

  /** A page without ends: Proxmox lists everything at once. */
  #resources(type: string | undefined): object[] {
    if (!this.statsLag) this.collectStats()
    const guests = [...this.guests.values()]
      .filter(one => this.has(`/vms/${one.vmid}`, 'VM.Audit'))
      .map(({ vmid, type: kind, node, lock, pool, config: { tags } }) => ({
        ...{ id: `${kind}/${vmid}`, vmid, type: kind, node, status: 'unknown' },
        ...(this.nodes.get(node)?.online ? this.#stats.get(vmid) : {}),
        ...{ ...(lock && { lock }), ...(tags && { tags }), ...(pool && this.has(`/pool/${pool}`, 'Pool.Audit') && { pool }) },
      }))
    const storages = [...this.nodes.keys()].flatMap(node =>
      [...this.storages]
        .filter(([storage]) => this.has(`/storage/${storage}`, 'Datastore.Audit'))
        .map(([storage, { shared }]) => ({
          ...{ id: `storage/${node}/${storage}`, storage, node, type: 'storage', status: 'available', shared: Number(shared) },
          ...{ content: 'images,rootdir', plugintype: shared ? 'rbd' : 'lvmthin', maxdisk: 2 ** 40, disk: 2 ** 38 },
        })),
    )
    const rows = { vm: guests, node: this.#nodeRows(), storage: storages, sdn: [] }
    return type === undefined ? [...guests, ...this.#nodeRows(), ...storages] : rows[type as keyof typeof rows]
  }
}

const digestOf = (config: object) => new Bun.CryptoHasher('sha1').update(JSON.stringify(config)).digest('hex')

const macOf = ({ config }: ProxmoxGuest) => /(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/.exec(config.net0 ?? '')?.[0].toLowerCase() ?? ''
