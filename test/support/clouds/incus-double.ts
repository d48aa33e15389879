import { randomUUID } from 'node:crypto'
import { ApiDouble, type ApiRequest, type ApiResponse } from '../api-double'

interface DoubleInstance {
  name: string
  status: string
  config: Record<string, string>
  devices: Record<string, Record<string, string>>
  createdAt: string
  /** Whether its state can't be read, as while a guest switches itself off. */
  isUnreadable: boolean
  starts: number
  snapshots: { name: string; created_at: string; stateful: boolean; size: number; devices: DoubleInstance['devices'] }[]
  /** Counters and memory while it runs. */
  usage: { cpuSeconds: number; memory: number; received: number; sent: number }
}

interface DoubleVolume {
  name: string
  /** Bytes; null if the pool doesn't know it. */
  used: number | null
  snapshots: { name: string; created_at: string }[]
  config: Record<string, string>
}

interface DoubleOperation {
  id: string
  /** Reads until it has ended. */
  remaining: number
  err: string
  /** Name of the instance that it creates. */
  creates: string | null
}

/** The part of Incus 6.0 that the adapter uses, to simulate failures. Its rules and messages were observed at the real server. */
export class IncusDouble extends ApiDouble {
  readonly instances: DoubleInstance[] = []
  readonly volumes: DoubleVolume[] = []
  operations: DoubleOperation[] = []
  readonly acls = new Map<string, { config: Record<string, string>; ingress: object[]; egress: object[] }>()
  /** Of the storage pool. */
  driver = 'btrfs'
  /** Of the volumes of instances. */
  removesSnapshots = false
  /** Error of operations that start from now on. */
  failure: string | null = null
  /** Creations that were accepted, and are carried out when they are called; null if all are carried out at once. */
  queue: (() => void)[] | null = null
  #snapshots = 0
  readonly fingerprints: Record<string, string> = { one: '1'.repeat(64), two: '2'.repeat(64) }

  /** @param tls in PEM, for https */
  constructor(tls?: { cert: string; key: string }) {
    super('/1.0', tls)
  }

  /** Value for `url`. */
  get base(): string {
    return this.url.slice(0, -'/1.0'.length)
  }

  create(name: string, config: Record<string, string> = {}, devices: DoubleInstance['devices'] = {}): DoubleInstance {
    const createdAt = new Date(1_700_000_000_000 + this.instances.length).toISOString()
    const base = { 'volatile.uuid': randomUUID(), 'volatile.base_image': this.fingerprints.one! }
    const instance = {
      name,
      status: 'Stopped',
      config: { ...base, ...config },
      devices,
      createdAt,
      isUnreadable: false,
      starts: 0,
      usage: { cpuSeconds: 0, memory: 2 ** 26, received: 0, sent: 0 },
      snapshots: [] as DoubleInstance['snapshots'],
    }
    this.instances.push(instance)
    return instance
  }

  named = (name: string) => this.instances.find(one => one.name === name)

  remove(instance: DoubleInstance): void {
    this.instances.splice(this.instances.indexOf(instance), 1)
  }

  protected answer(
    request: ApiRequest,
    fault: 'throttled' | { status: number; code: string; message?: string } | null,
  ): ApiResponse {
    if (fault !== null && fault !== 'throttled') return errorOf(fault.status, fault.message ?? fault.code)
    const { method, query } = request
    // The address identifies the client, because there is no TLS.
    const isTrusted = !request.path.startsWith('/untrusted')
    const path = request.path.replace(/^\/untrusted\/1\.0/, '').replace(/^\/1\.0$/, '')
    if (path === '') return sync(serverOf(isTrusted))
    if (!isTrusted && path === '/images') return sync([])
    if (!isTrusted) return path.startsWith('/images/') ? errorOf(404, 'Image alias not found') : errorOf(403, 'not authorized')
    if (query.get('project') !== 'default') return errorOf(404, 'Project not found')
    const [, area, name = '', part, ...more] = path.split('/').map(decodeURIComponent)
    switch (area) {
      case 'operations':
        return name === '' ? this.#runningOperations() : this.#operation(name, part === 'wait')
      case 'images':
        return this.#image(name, part)
      case 'profiles':
        return name === 'default'
          ? sync({ devices: { disk0: { type: 'disk', path: '/', pool: 'default' } } })
          : errorOf(404, 'Profile not found')
      case 'storage-pools':
        if (name === '') return sync([{ name: 'default', driver: this.driver }])
        if (part === 'volumes' && more[0] !== 'custom')
          return sync({ name: more[1], config: { 'zfs.remove_snapshots': String(this.removesSnapshots) } })
        if (part === 'volumes' && more[2] === 'state') {
          const volume = this.volumes.find(one => one.name === more[1])
          if (!volume) return errorOf(404, 'Storage volume not found')
          return sync({ usage: volume.used === null ? null : { used: volume.used, total: 0 } })
        }
        if (part === 'volumes' && more[2] === 'snapshots')
          return this.#volumeSnapshot(method, more[1]!, more[3] ?? '', request.body)
        if (part === 'volumes') return this.#volume(method, more[1] ?? '', request.body)
        return name === 'default' ? sync({ driver: this.driver }) : errorOf(404, 'Storage pool not found')
      case 'networks':
        return sync([{ name: 'br0', managed: true, config: { 'ipv4.address': '10.87.0.1/24', 'ipv6.address': 'none' } }])
      case 'network-acls':
        return this.#acl(method, name, request)
      case 'projects':
        return sync({ name })
      case 'resources':
        return sync({ cpu: { total: 4 } })
      case 'cluster':
        return sync({ enabled: false })
      case 'instances':
        return part === 'snapshots'
          ? this.#snapshot(method, name, more[0] ?? '', request.body)
          : this.#instance(method, name, part, request)
      default:
        return errorOf(404, 'not found')
    }
  }

  #runningOperations(): ApiResponse {
    const running = this.operations
      .filter(one => one.remaining > 0 && one.creates !== null)
      .map(({ id, creates }) => ({
        ...{ id, description: 'Creating instance', status_code: 103 },
        resources: { instances: [`/1.0/instances/${creates}`] },
      }))
    return sync(running.length > 0 ? { running } : {})
  }

  #operation(id: string, isWait: boolean): ApiResponse {
    const operation = this.operations.find(one => one.id === id)
    if (!operation) return errorOf(404, 'Operation not found')
    if (isWait) return operation.err === '' ? sync({}) : { status: 200, body: errorBody(500, operation.err) }
    if (operation.remaining-- > 0)
      return sync({ status_code: 103, metadata: { create_instance_from_image_unpack_progress: 'Unpack: 40%' } })
    return sync(operation.err === '' ? { status_code: 200, err: '' } : { status_code: 400, err: operation.err })
  }

  #acl(method: string, name: string, { body }: ApiRequest): ApiResponse {
    if (method === 'GET') return sync([...this.acls].map(([each, acl]) => ({ name: each, ...acl })))
    const isUsed = this.instances.some(one => Object.values(one.devices).some(device => device['security.acls']?.includes(name)))
    if (method === 'DELETE' && isUsed) return errorOf(400, 'Cannot delete an ACL that is in use')
    if (method === 'DELETE') this.acls.delete(name)
    else this.acls.set(name === '' ? body.name : name, { config: body.config, ingress: body.ingress, egress: body.egress })
    return sync({})
  }

  #image(name: string, alias: string | undefined): ApiResponse {
    const entries = Object.entries(this.fingerprints)
    if (name === '')
      return sync(
        entries.map(([title, fingerprint]) => ({
          fingerprint,
          type: 'container',
          aliases: [{ name: title }],
          properties: { os: 'Debian' },
        })),
      )
    const found = name === 'aliases' ? this.fingerprints[alias!] : entries.map(([, one]) => one).find(one => one === name)
    return found === undefined
      ? errorOf(404, 'Image alias not found')
      : sync({ target: found, fingerprint: found, type: 'container' })
  }

  #instance(method: string, name: string, part: string | undefined, { body, query, headers }: ApiRequest): ApiResponse {
    if (name === '' && method === 'GET') {
      const [, key, value] = /^config\.(\S+) eq (\S+)$/.exec(query.get('filter') ?? '') ?? []
      const found = this.instances.filter(one => key === undefined || one.config[key] === value)
      return sync(found.map(query.get('recursion') === '2' ? listed : stored))
    }
    if (name === '') return this.#create(body)
    const instance = this.named(name)
    if (!instance) return errorOf(404, `Failed to fetch instance "${name}" in project "default": Instance not found`)
    const { status } = instance
    const etag = etagOf(instance)
    if (method === 'GET' && instance.isUnreadable) return errorOf(500, "Invalid PID '\ufffd'")
    if (method === 'GET') return { ...sync(shown(instance)), headers: { etag } }
    const isChange = (method === 'PATCH' || method === 'PUT') && part === undefined
    if (isChange && (headers['if-match'] ?? etag) !== etag)
      return errorOf(412, `ETag doesn't match: ${headers['if-match']} vs ${etag}`)
    if (method === 'PATCH') {
      Object.assign(instance.config, body.config)
      if (body.devices) instance.devices = body.devices
      return sync({})
    }
    if (method === 'PUT' && part === undefined && body.restore !== undefined) {
      const found = instance.snapshots.find(one => one.name === body.restore)
      const isNewest = instance.snapshots.at(-1)?.name === body.restore
      if (this.driver === 'zfs' && !this.removesSnapshots && !isNewest)
        return this.#started(
          `Snapshot "${body.restore}" cannot be restored due to subsequent snapshot(s). Set zfs.remove_snapshots to override`,
        )
      return found
        ? this.#started('', () => (instance.devices = structuredClone(found.devices)))
        : errorOf(404, 'Instance snapshot not found')
    }
    if (method === 'PUT' && part === undefined) {
      instance.devices = body.devices
      return sync({})
    }
    if (method === 'DELETE') {
      if (status !== 'Stopped') return errorOf(400, 'Instance is running')
      if (instance.config['security.protection.delete'] === 'true') return this.#started('Instance is protected')
      return this.#started('', () => this.remove(instance))
    }
    if (part === 'rebuild') {
      if (status !== 'Stopped') return errorOf(400, 'Instance must be stopped to be rebuilt')
      return this.#started('', () => (instance.config['volatile.base_image'] = body.source.fingerprint))
    }
    if (part === 'state') return this.#state(instance, body.action)
    if (this.named(body.name)) return errorOf(409, `Name "${body.name}" already in use`)
    if (status !== 'Stopped') return this.#started('Renaming of running instance not allowed')
    return this.#started('', () => (instance.name = body.name))
  }

  #snapshot(method: string, name: string, snapshot: string, body: any): ApiResponse {
    const instance = this.named(name)
    if (!instance) return errorOf(404, 'Instance not found')
    const { snapshots } = instance
    const found = snapshots.find(one => one.name === snapshot)
    if (method === 'POST') {
      if (snapshots.some(one => one.name === body.name)) return this.#started(`Snapshot "${body.name}" already exists`)
      const created_at = new Date(1_700_000_000_000 + ++this.#snapshots * 1000).toISOString()
      const taken = { name: body.name, created_at, stateful: body.stateful, size: 4096 }
      return this.#started('', () => snapshots.push({ ...taken, devices: structuredClone(instance.devices) }))
    }
    if (method === 'GET' && snapshot === '') return sync(snapshots)
    if (!found) return errorOf(404, 'Instance snapshot not found')
    if (method === 'DELETE') return this.#started('', () => snapshots.splice(snapshots.indexOf(found), 1))
    return sync({ ...found, name: found.name })
  }

  #volume(method: string, name: string, body: any): ApiResponse {
    const found = this.volumes.find(one => one.name === name)
    if (method === 'POST' && name === '') {
      if (this.volumes.some(one => one.name === body.name)) return errorOf(400, 'Volume by that name already exists')
      this.volumes.push({ name: body.name, config: body.config, used: 4096, snapshots: [] })
      return sync({})
    }
    if (name === '')
      return sync(
        this.volumes.flatMap(one => [
          this.#volumeShown(one),
          ...one.snapshots.map(each => ({ ...this.#volumeShown(one), ...each, name: `${one.name}/${each.name}` })),
        ]),
      )
    if (!found) return errorOf(404, 'Storage volume not found')
    if (method === 'PUT' && this.#volumeShown(found).used_by.length > 0) return errorOf(400, 'The storage volume is still in use')
    if (method === 'PUT')
      return found.snapshots.some(one => one.name === body.restore) ? this.#started('') : errorOf(404, 'Snapshot not found')
    if (method === 'PATCH') Object.assign(found.config, body.config)
    if (method === 'POST' && this.#volumeShown(found).used_by.length > 0)
      return errorOf(400, 'Volume is still in use by running instances')
    if (method === 'POST' && this.volumes.some(one => one.name === body.name))
      return errorOf(400, 'Volume by that name already exists')
    if (method === 'POST') found.name = body.name
    if (method === 'DELETE' && this.#volumeShown(found).used_by.length > 0)
      return errorOf(400, 'The storage volume is still in use')
    if (method === 'DELETE') this.volumes.splice(this.volumes.indexOf(found), 1)
    return sync(method === 'GET' ? this.#volumeShown(found) : {})
  }

  #volumeSnapshot(method: string, name: string, snapshot: string, body: any): ApiResponse {
    const volume = this.volumes.find(one => one.name === name)
    if (!volume) return errorOf(404, 'Storage volume not found')
    const { snapshots } = volume
    const found = snapshots.find(one => one.name === snapshot)
    if (method === 'GET' && snapshot === '') return sync(snapshots)
    if (method === 'POST') {
      if (snapshots.some(one => one.name === body.name)) return errorOf(409, `Snapshot "${body.name}" already in use`)
      const created_at = new Date(1_700_000_000_000 + ++this.#snapshots * 1000).toISOString()
      return this.#started('', () => snapshots.push({ name: body.name, created_at }))
    }
    if (!found) return errorOf(404, 'Storage volume snapshot not found')
    if (method === 'DELETE') return this.#started('', () => snapshots.splice(snapshots.indexOf(found), 1))
    return sync(found)
  }

  #volumeShown({ name, config }: DoubleVolume) {
    const users = this.instances.filter(one =>
      Object.values(one.devices).some(({ pool, source }) => pool === 'default' && source === name),
    )
    return {
      ...{ name, config, type: 'custom', content_type: 'filesystem', location: 'none' },
      used_by: users.map(one => `/1.0/instances/${one.name}`),
    }
  }

  #create({ name, source, config, devices }: any): ApiResponse {
    if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(name)) return errorOf(400, 'Invalid instance name: It is invalid')
    if (this.named(name))
      return this.#started('Failed creating instance record: UNIQUE constraint failed: instances.project_id, instances.name')
    const carryOut = () => this.create(name, { ...config, 'volatile.base_image': source.fingerprint }, devices)
    if (!this.queue) return this.#started('', carryOut, name)
    const started = this.#started('', undefined, name)
    const operation = this.operations.at(-1)!
    operation.remaining = Number.POSITIVE_INFINITY
    this.queue.push(() => {
      operation.remaining = 0
      if (this.named(name)) operation.err = 'UNIQUE constraint failed: instances.project_id, instances.name'
      else carryOut()
    })
    return started
  }

  #state(instance: DoubleInstance, action: string): ApiResponse {
    const [from, to, already] = changes[action]!
    if (!from.includes(instance.status)) return this.#started(already)
    return this.#started('', () => {
      instance.status = to
      if (action === 'start' || action === 'restart') instance.starts++
    })
  }

  #started(err: string, carryOut: () => unknown = () => {}, creates: string | null = null): ApiResponse {
    const operation = { id: randomUUID(), remaining: 1, err: err === '' ? (this.failure ?? '') : err, creates }
    this.operations.push(operation)
    if (operation.err === '') carryOut()
    return { status: 202, body: { type: 'async', status_code: 100, operation: `/1.0/operations/${operation.id}`, metadata: {} } }
  }
}

/** Statuses in which an action is possible, the status afterwards, and the error in others. */
const changes: Record<string, [string[], string, string]> = {
  start: [['Stopped'], 'Running', 'The instance is already running'],
  stop: [['Running', 'Frozen'], 'Stopped', 'The instance is already stopped'],
  restart: [['Running', 'Frozen'], 'Running', 'The instance is already stopped'],
  freeze: [['Running'], 'Frozen', 'The container is already frozen'],
  unfreeze: [['Frozen'], 'Running', 'The container is already running'],
}

const root = { type: 'disk', path: '/', pool: 'default' }
const nic = { type: 'nic', network: 'br0' }

const stateOf = ({ cpuSeconds, memory, received, sent }: DoubleInstance['usage']) => ({
  cpu: { usage: cpuSeconds * 1e9 },
  memory: { usage: memory },
  network: {
    lo: { type: 'loopback', addresses: [], counters: { bytes_received: 10 ** 12, bytes_sent: 10 ** 12 } },
    eth0: { type: 'broadcast', addresses: [], counters: { bytes_received: received, bytes_sent: sent } },
  },
})

/** Without state and snapshots. */
const stored = ({ name, status, config, devices, createdAt, starts }: DoubleInstance) => ({
  name,
  status,
  type: 'container',
  location: 'none',
  created_at: createdAt,
  last_used_at: new Date(1_700_000_000_000 + starts * 1000).toISOString(),
  config,
  expanded_config: config,
  devices,
  expanded_devices: { disk0: root, eth0: nic, ...devices },
})

const shown = (instance: DoubleInstance) => ({
  ...stored(instance),
  snapshots: instance.snapshots,
  state: instance.status === 'Running' ? stateOf(instance.usage) : null,
})

/** In a list with states. */
const listed = (instance: DoubleInstance): object =>
  instance.isUnreadable
    ? { name: instance.name, status: 'Error', config: null, devices: null, state: null, snapshots: null }
    : shown(instance)

const serverOf = (isTrusted: boolean) => ({
  auth: isTrusted ? 'trusted' : 'untrusted',
  api_extensions: ['instances_rebuild'],
  ...(isTrusted && { environment: { server: 'incus', server_version: '6.0.4', server_name: 'double' } }),
})

/** What a change replaces. */
const etagOf = ({ config, devices }: DoubleInstance): string =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify([config, devices])).digest('hex')

const sync = (metadata: unknown): ApiResponse => ({
  status: 200,
  body: { type: 'sync', status: 'Success', status_code: 200, metadata },
})

export const errorBody = (code: number, error: string) => ({
  type: 'error',
  status: '',
  status_code: 0,
  error_code: code,
  error,
  metadata: null,
})

const errorOf = (status: number, error: string): ApiResponse => ({ status, body: errorBody(status, error) })
