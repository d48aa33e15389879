import { metricsJson } from './cloud-metrics'
import { listed, refused, seconds, type Resource, type Row } from './cloud-responses'
import { DemoStorage, type VolumeDraft } from './cloud-storage'
import { dayMs, secondMs } from './time-units'

/** A change that takes a while. */
interface Change {
  id: number
  command: string
  resource: Resource
  startedAt: number
  endsAt: number
  /** What is different afterwards. */
  end(): void
}

interface Machine {
  id: number
  name: string
  status: string
  type: string
  location: string
  image: string
  labels: Record<string, string>
  createdAt: number
  hasBackups: boolean
  isProtected: boolean
}

interface Firewall {
  id: number
  name: string
  labels: Record<string, string>
  rules: Row[]
  servers: Set<number>
}

/** A cloud with its servers in memory. It understands the requests of the kind `hetzner` that the demo needs. */
export interface DemoCloud {
  apiToken: string
  /** Adds a server directly, as if created in the console of the cloud. */
  add(server: Pick<Machine, 'name' | 'type' | 'location' | 'labels'> & { status?: string }): void
  /** Adds a volume directly. @param server name of the server that it is attached to */
  addVolume(volume: VolumeDraft, server: string | null): void
  /** Adds a snapshot of a server directly. @param createdAt ms UTC */
  addSnapshot(server: string, name: string, createdAt: number): void
  /** Handles a request. @param body of the request */
  handle(request: Request, body: string): Response
}

const changeMs = 4 * secondMs
const currency = 'EUR'
const locations = [
  { id: 1, name: 'fsn1', description: 'Falkenstein DC Park 1', country: 'DE', city: 'Falkenstein' },
  { id: 2, name: 'nbg1', description: 'Nuremberg DC Park 1', country: 'DE', city: 'Nuremberg' },
  { id: 3, name: 'hel1', description: 'Helsinki DC Park 1', country: 'FI', city: 'Helsinki' },
]
const types = [
  { id: 1, name: 'cx22', cores: 2, memory: 4, disk: 40, price: '4.51' },
  { id: 2, name: 'cx32', cores: 4, memory: 8, disk: 80, price: '8.09' },
  { id: 3, name: 'cx42', cores: 8, memory: 16, disk: 160, price: '19.52' },
  { id: 4, name: 'cx52', cores: 16, memory: 32, disk: 320, price: '38.56' },
]
const images = [
  { id: 1, name: 'debian-12', description: 'Debian 12', os_flavor: 'debian' },
  { id: 2, name: 'ubuntu-24.04', description: 'Ubuntu 24.04', os_flavor: 'ubuntu' },
  { id: 3, name: 'rocky-9', description: 'Rocky Linux 9', os_flavor: 'rocky' },
].map(one => ({ ...one, type: 'system', architecture: 'x86', disk_size: 5, deprecated: null }))

/** @param now ms UTC */
export function demoCloud(apiToken: string, now: () => number): DemoCloud {
  const machines = new Map<number, Machine>()
  const firewalls = new Map<number, Firewall>()
  const changes: Change[] = []
  let lastId = 4710

  const settle = () => {
    for (const change of changes.filter(one => one.endsAt <= now())) {
      changes.splice(changes.indexOf(change), 1)
      change.end()
    }
  }
  const startOf = (resource: Resource, command: string, end: () => void): Row => {
    const change = { id: ++lastId, command, resource, startedAt: now(), endsAt: now() + changeMs, end }
    changes.push(change)
    return changeJson(change)
  }
  const start = (server: Machine, command: string, status: string | null, end: () => void): Row => {
    if (status) server.status = status
    return startOf({ id: server.id, type: 'server' }, command, end)
  }
  const changeJson = ({ id, command, resource, startedAt }: Change): Row => ({
    ...{ id, command, status: 'running', progress: Math.min(99, Math.round(((now() - startedAt) / changeMs) * 100)) },
    ...{ started: seconds(startedAt), finished: null, error: null, resources: [resource] },
  })
  const storage = new DemoStorage({
    newId: () => ++lastId,
    now,
    start: startOf,
    location: name => locations.find(one => one.name === name),
  })
  const add = (input: Partial<Machine> & Pick<Machine, 'name'>): Machine => {
    const machine: Machine = {
      ...{ id: ++lastId, status: 'running', type: 'cx22', location: 'fsn1', image: 'debian-12', labels: {} },
      ...{ createdAt: now(), hasBackups: false, isProtected: false },
      ...input,
    }
    machines.set(machine.id, machine)
    return machine
  }

  const actions: Record<string, (server: Machine, body: Row) => Row> = {
    poweron: server => start(server, 'start_server', 'starting', () => (server.status = 'running')),
    poweroff: server => start(server, 'stop_server', 'stopping', () => (server.status = 'off')),
    shutdown: server => start(server, 'shutdown_server', 'stopping', () => (server.status = 'off')),
    reboot: server => start(server, 'reboot_server', null, () => {}),
    reset: server => start(server, 'reset_server', null, () => {}),
    change_type: (server, body) => start(server, 'change_server_type', null, () => (server.type = String(body.server_type))),
    rebuild: (server, body) =>
      start(server, 'rebuild_server', 'rebuilding', () => {
        server.image = String(body.image)
        server.status = 'running'
      }),
    change_protection: (server, body) =>
      start(server, 'change_protection', null, () => (server.isProtected = body.delete === true)),
    enable_backup: server => start(server, 'enable_backup', null, () => (server.hasBackups = true)),
    disable_backup: server => start(server, 'disable_backup', null, () => (server.hasBackups = false)),
  }

  const changeFirewall: Record<string, (firewall: Firewall, body: Row) => unknown> = {
    set_rules: (firewall, { rules }) => (firewall.rules = rules),
    apply_to_resources: (firewall, { apply_to }) => serverIds(apply_to).forEach(id => firewall.servers.add(id)),
    remove_from_resources: (firewall, { remove_from }) => serverIds(remove_from).forEach(id => firewall.servers.delete(id)),
  }

  /** Changes of firewalls take effect at once. */
  const respondForFirewalls = (method: string, path: string, query: URLSearchParams, body: Row): Response => {
    const firewall = firewalls.get(Number(/^\/firewalls\/(\d+)/.exec(path)?.[1]))
    if (method === 'GET' && path === '/firewalls') return listed('firewalls', [...firewalls.values()].map(firewallJson), query)
    if (method === 'POST' && path === '/firewalls') {
      const created = { id: ++lastId, name: body.name, labels: body.labels, rules: body.rules, servers: new Set<number>() }
      firewalls.set(created.id, created)
      return Response.json({ firewall: firewallJson(created), actions: [] }, { status: 201 })
    }
    if (!firewall) return refused(404, 'not_found', 'firewall not found')
    if (method === 'GET') return Response.json({ actions: [] })
    if (method === 'DELETE') {
      firewalls.delete(firewall.id)
      return new Response(null, { status: 204 })
    }
    changeFirewall[path.split('/').at(-1)!]?.(firewall, body)
    return Response.json({ actions: [] }, { status: 201 })
  }

  const remove = ({ id }: Machine) => {
    storage.release(id)
    machines.delete(id)
  }
  const found = (path: string): Machine | undefined => machines.get(Number(/^\/servers\/(\d+)/.exec(path)?.[1]))

  const respond = (method: string, path: string, query: URLSearchParams, body: Row): Response => {
    const route = `${method} ${path.replace(/\d+/, '{}')}`
    const server = found(path)
    if (path.startsWith('/firewalls')) return respondForFirewalls(method, path, query, body)
    if (path.startsWith('/volumes')) return storage.respondForVolumes(method, path, query, body)
    if (path.startsWith('/images/')) return storage.respondForImage(method, Number(path.split('/')[2]), body)
    if (path.startsWith('/servers/') && !server) return refused(404, 'not_found', 'server not found')
    switch (route) {
      case 'GET /servers':
        return listed('servers', [...machines.values()].map(machineJson), query)
      case 'POST /servers': {
        const { name, server_type: type, location, image, labels, volumes } = body as Record<string, string> & Row
        if ([...machines.values()].some(one => one.name === name))
          return refused(409, 'uniqueness_error', 'server name is already used')
        const created = add({ name: name!, type: type!, location: location!, image: image!, labels: labels as Machine['labels'] })
        storage.attach(created.id, volumes)
        const action = start(created, 'create_server', 'initializing', () => (created.status = 'running'))
        return Response.json({ server: machineJson(created), action, next_actions: [] }, { status: 201 })
      }
      case 'GET /servers/{}':
        return Response.json({ server: machineJson(server!) })
      case 'PUT /servers/{}':
        Object.assign(server!, { name: body.name ?? server!.name, labels: body.labels ?? server!.labels })
        return Response.json({ server: machineJson(server!) })
      case 'DELETE /servers/{}':
        return Response.json({ action: start(server!, 'delete_server', 'deleting', () => remove(server!)) })
      case 'GET /servers/{}/metrics':
        return Response.json(metricsJson(server!.id, query))
      case 'POST /servers/{}/actions/create_image':
        return Response.json(storage.createImage(originOf(server!), body), { status: 201 })
      case 'GET /servers/{}/actions':
        return listed('actions', changes.filter(one => one.resource.id === server!.id).map(changeJson))
      case 'GET /actions':
        return Response.json({ actions: changes.filter(one => query.getAll('id').includes(String(one.id))).map(changeJson) })
      case 'GET /locations':
        return listed('locations', locations)
      case 'GET /server_types':
        return listed('server_types', types.map(typeJson))
      case 'GET /images':
        return listed('images', query.get('type') === 'snapshot' ? storage.images() : [...images, ...storage.images()], query)
      case 'GET /networks':
        return listed('networks', [{ id: 1, name: 'kestrel-internal', ip_range: '10.20.0.0/16' }])
      case 'GET /ssh_keys':
        return listed('ssh_keys', [{ id: 1, name: 'deploy' }])
      case 'GET /pricing':
        return Response.json({
          pricing: {
            ...{ currency, primary_ips: [{ type: 'ipv4', prices: prices('0.60') }], server_backup: { percentage: '20' } },
            ...{ volume: { price_per_gb_month: { gross: '0.0572' } }, image: { price_per_gb_month: { gross: '0.0143' } } },
          },
        })
    }
    const act = /^POST \/servers\/\{\}\/actions\/(\w+)$/.exec(route)?.[1]
    if (act && actions[act]) return Response.json({ action: actions[act](server!, body) }, { status: 201 })
    return refused(404, 'not_found', 'not found')
  }

  const named = (name: string | null): Machine | undefined => [...machines.values()].find(one => one.name === name)

  return {
    apiToken,
    add: server => void add({ ...server, createdAt: now() - 200 * dayMs }),
    addVolume: (volume, server) => void storage.addVolume(volume, named(server)?.id, now() - 150 * dayMs),
    addSnapshot: (server, name, createdAt) => void storage.addSnapshot(originOf(named(server)!), name, createdAt),
    handle(request, body) {
      settle()
      if (request.headers.get('authorization') !== `Bearer ${apiToken}`)
        return refused(401, 'unauthorized', 'unable to authenticate')
      const { pathname, searchParams } = new URL(request.url)
      return respond(request.method, pathname.replace(/^\/v1/, ''), searchParams, body === '' ? {} : JSON.parse(body))
    },
  }
}

const machineJson = (one: Machine): Row => ({
  ...{ id: one.id, name: one.name, status: one.status, labels: one.labels, created: seconds(one.createdAt) },
  server_type: typeJson(typeOf(one)),
  location: locations.find(({ name }) => name === one.location),
  image: images.find(({ name }) => name === one.image) ?? { id: Number(one.image), name: null },
  public_net: {
    ipv4: { ip: `203.0.113.${one.id % 250}`, dns_ptr: `static.${one.id}.kestrel.example` },
    ipv6: { ip: `2001:db8:${one.id.toString(16)}::/64`, dns_ptr: [] },
  },
  private_net: [],
  protection: { delete: one.isProtected, rebuild: one.isProtected },
  backup_window: one.hasBackups ? '22-02' : null,
  rescue_enabled: false,
})

const typeOf = ({ type }: Machine) => types.find(({ name }) => name === type) ?? types[0]!

const originOf = (one: Machine) => ({ id: one.id, name: one.name, disk: typeOf(one).disk })

const firewallJson = ({ servers, ...firewall }: Firewall): Row => ({
  ...firewall,
  applied_to: [...servers].map(id => ({ type: 'server', server: { id } })),
})

const serverIds = (resources: Row[]): number[] => resources.map(one => one.server.id)

const typeJson = ({ price, ...type }: (typeof types)[number]): Row => ({
  ...type,
  ...{ description: type.name.toUpperCase(), architecture: 'x86', cpu_type: 'shared' },
  locations: locations.map(({ name }) => ({ name, available: !(type.name === 'cx52' && name === 'hel1'), deprecation: null })),
  prices: prices(price),
})

const prices = (gross: string): Row[] => locations.map(({ name }) => ({ location: name, price_monthly: { gross } }))
