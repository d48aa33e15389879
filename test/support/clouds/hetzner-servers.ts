import { HetznerRefused, invalidInput, notFound } from '../hetzner-refused'
import type { HetznerServerType } from './hetzner-catalog'
import {
  labelSelector,
  refuseLabels,
  uniqueness,
  type HetznerAction,
  type HetznerPrimaryIp,
  type HetznerProject,
  type HetznerServer,
} from './hetzner-project'
import { actionShown, created, matches, ok, sorted, type Call, type Routes } from './hetzner-routes'
import { imageShown, serverTypeShown } from './hetzner-catalog-routes'
import { applyToServer, firewallsOf, isPending } from './hetzner-firewalls'
import { attach } from './hetzner-volumes'

/** A new server. What is missing is as the API has it by default. */
export interface ServerDraft {
  name: string
  server_type: string | number
  image: string | number
  location?: string | number
  labels?: Record<string, string>
  ssh_keys?: (string | number)[]
  networks?: number[]
  volumes?: number[]
  firewalls?: { firewall: number }[]
  user_data?: string
  start_after_create?: boolean
  public_net?: { enable_ipv4?: boolean; enable_ipv6?: boolean }
}

/** Servers and what can be done to them. */
export function serverRoutes(project: HetznerProject): Routes {
  const serverOf = ({ ids }: Call): HetznerServer => {
    const server = project.servers.get(ids[0]!)
    if (!server) throw notFound(`server with ID '${ids[0]}'`)
    return server
  }
  const shown = (action: HetznerAction) => actionShown(project, action)
  /** An action of a server. `begin` sets its status until the action ends, and can refuse. */
  const acting =
    (
      command: string,
      begin: (server: HetznerServer, body: any) => (() => void) | void,
      more: (body: any) => object = () => ({}),
    ) =>
    (call: Call) => {
      const server = serverOf(call)
      refuseLocked(project, server)
      const { status } = server
      const end = begin(server, call.body ?? {}) ?? (() => {})
      const action = project.act(command, [resourceOf(server)], end, { failed: () => (server.status = status) })
      return created({ action: shown(action), ...more(call.body ?? {}) })
    }
  const list = ({ query }: Call) => {
    const isSelected = labelSelector(query.get('label_selector'))
    const found = [...project.servers.values()].filter(
      one => matches(query, 'name', one.name) && matches(query, 'status', one.status) && isSelected(one.labels),
    )
    return sorted(found, query, (one, field) => (field === 'name' ? one.name : one.created))
  }
  return {
    'GET /servers': call =>
      call.listed(
        'servers',
        () => list(call),
        one => serverShown(project, one),
      ),
    'POST /servers': ({ body }) => {
      const { server, action, next, hasPassword } = createServer(project, body)
      return created({
        server: serverShown(project, server),
        action: shown(action),
        next_actions: next.map(shown),
        root_password: hasPassword ? password : null,
      })
    },
    'GET /servers/{id}': call => ok({ server: serverShown(project, serverOf(call)) }),
    'GET /servers/{id}/metrics': call => {
      const { type } = serverOf(call)
      const [start, end] = ['start', 'end'].map(name => Date.parse(call.query.get(name)!) / 1000) as [number, number]
      const step = Number(call.query.get('step'))
      const times = Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, n) => start + n * step)
      const isFuture = (at: number) => at * 1000 > project.clock.now()
      const series = (value: number) => ({ values: times.filter(at => !isFuture(at)).map(at => [at, String(value)]) })
      const found: Record<string, object> = {}
      // Each core counts up to 100 percent.
      if (call.query.getAll('type').includes('cpu')) found.cpu = series(type.cores * 50)
      if (call.query.getAll('type').includes('disk'))
        for (const one of ['iops.read', 'iops.write', 'bandwidth.read', 'bandwidth.write']) found[`disk.0.${one}`] = series(4096)
      if (call.query.getAll('type').includes('network'))
        for (const one of ['pps.in', 'pps.out', 'bandwidth.in', 'bandwidth.out']) found[`network.0.${one}`] = series(1024)
      return ok({
        metrics: {
          start: new Date(start * 1000).toISOString(),
          end: new Date(end * 1000).toISOString(),
          step,
          time_series: found,
        },
      })
    },
    'PUT /servers/{id}': call => {
      const server = serverOf(call)
      const { name, labels } = call.body
      refuseLabels(labels)
      if (name !== undefined) refuseName(project, name, server)
      Object.assign(server, name !== undefined && { name }, labels !== undefined && { labels })
      return ok({ server: serverShown(project, server) })
    },
    'DELETE /servers/{id}': call => {
      const server = serverOf(call)
      if (server.protection.delete) throw new HetznerRefused(423, 'protected', 'server is protected')
      refuseLocked(project, server)
      server.status = 'deleting'
      return ok({ action: shown(project.act('delete_server', [resourceOf(server)], () => project.remove(server))) })
    },
    'POST /servers/{id}/actions/poweron': acting('start_server', server => {
      if (server.status === 'running') return
      server.status = 'starting'
      return () => start(server)
    }),
    'POST /servers/{id}/actions/poweroff': acting('stop_server', server => {
      if (server.status !== 'off') server.status = 'stopping'
      return () => (server.status = 'off')
    }),
    // It succeeds as soon as the guest is notified, whatever the guest does.
    'POST /servers/{id}/actions/shutdown': acting('shutdown_server', server => {
      if (server.status !== 'running') throw new HetznerRefused(422, 'server_not_running', 'server is not running')
      const { boots } = server
      project.later(project.shutdownMs, () => {
        if (server.boots === boots && server.status === 'running') server.status = 'off'
      })
    }),
    'POST /servers/{id}/actions/reboot': acting('reboot_server', server => () => start(server)),
    'POST /servers/{id}/actions/reset': acting('reset_server', server => () => start(server)),
    'POST /servers/{id}/actions/rebuild': acting(
      'rebuild_server',
      (server, { image: wanted, user_data }) => {
        if (server.protection.rebuild) throw new HetznerRefused(423, 'protected', 'server is protected')
        const image = project.image(wanted, server.type.architecture)
        refuseUserData(user_data)
        server.status = 'rebuilding'
        return () => {
          Object.assign(server, { image, userData: user_data ?? server.userData })
          start(server)
        }
      },
      () => ({ root_password: null }),
    ),
    'POST /servers/{id}/actions/change_type': acting('change_server_type', (server, { server_type, upgrade_disk }) => {
      const type = project.serverType(server_type)
      if (server.status !== 'off') throw new HetznerRefused(409, 'server_not_stopped', 'server is not stopped')
      const place = type.locations.find(one => one.name === server.location)
      if (!place || isPast(project, place) || type.architecture !== server.type.architecture || type.disk < server.disk)
        throw new HetznerRefused(422, 'invalid_server_type', 'server type does not fit for the server or is deprecated')
      if (!place.available) throw outOfStock()
      server.status = 'migrating'
      return () => {
        // It stays off: the official clients start it themselves.
        Object.assign(server, { type, disk: upgrade_disk ? type.disk : server.disk, status: 'off' })
      }
    }),
    'POST /servers/{id}/actions/change_protection': acting('change_protection', (server, body) => {
      const protection = { ...server.protection, ...body }
      if (protection.delete !== protection.rebuild) throw invalidInput('delete', 'delete and rebuild must have the same value')
      return () => (server.protection = protection)
    }),
    'POST /servers/{id}/actions/enable_backup': acting('enable_backup', server => () => (server.backupWindow ??= '22-02')),
    'POST /servers/{id}/actions/disable_backup': acting('disable_backup', server => () => {
      server.backupWindow = null
      for (const image of [...project.images.values()]) if (image.bound_to === server.id) project.images.delete(image.id)
    }),
    'POST /servers/{id}/actions/enable_rescue': acting(
      'enable_rescue',
      (server, { ssh_keys = [] }) => {
        for (const id of ssh_keys) project.sshKey(id)
        return () => (server.isRescueEnabled = true)
      },
      () => ({ root_password: password }),
    ),
    'POST /servers/{id}/actions/disable_rescue': acting('disable_rescue', server => () => (server.isRescueEnabled = false)),
    'POST /servers/{id}/actions/reset_password': acting(
      'reset_password',
      server => {
        if (server.status !== 'running') throw new HetznerRefused(422, 'server_not_running', 'server is not running')
      },
      () => ({ root_password: password }),
    ),
    'POST /servers/{id}/actions/create_image': call => {
      const server = serverOf(call)
      refuseLocked(project, server)
      const { description, labels = {}, type = 'snapshot' } = call.body ?? {}
      refuseLabels(labels)
      if (type === 'backup' && server.backupWindow === null) throw invalidInput('type', 'backups are not enabled')
      const image = {
        ...{
          id: project.newId(),
          type,
          status: 'creating' as const,
          name: null,
          description: description ?? `snapshot ${server.name}`,
        },
        ...{ image_size: null as number | null, disk_size: server.disk, created: project.now(), labels, rapid_deploy: false },
        ...{ created_from: { id: server.id, name: server.name }, bound_to: type === 'backup' ? server.id : null },
        ...{ os_flavor: server.image?.os_flavor ?? 'unknown', os_version: server.image?.os_version ?? null },
        ...{ protection: { delete: false }, deprecated: null, deleted: null, architecture: server.type.architecture },
      }
      project.images.set(image.id, image)
      const resources = [resourceOf(server), { id: image.id, type: 'image' }]
      const effect = () => void Object.assign(image, { status: 'available', image_size: 2.3 })
      const action = project.act('create_image', resources, effect, { failed: () => project.images.delete(image.id) })
      return created({ action: shown(action), image: imageShown(image) })
    },
  }
}

/** Creates a server in `initializing`. @throws HetznerRefused */
export function createServer(project: HetznerProject, draft: ServerDraft) {
  const {
    name,
    labels = {},
    ssh_keys = [],
    networks = [],
    volumes = [],
    firewalls = [],
    user_data,
    start_after_create = true,
  } = draft
  const { enable_ipv4 = true, enable_ipv6 = true } = draft.public_net ?? {}
  refuseName(project, name)
  refuseLabels(labels)
  refuseUserData(user_data)
  const type = project.serverType(draft.server_type)
  const image = project.image(draft.image, type.architecture)
  if (image.disk_size > type.disk) throw invalidInput('image', 'image disk is bigger than server type disk')
  const location = placeOf(project, type, draft.location)
  const keys = ssh_keys.map(one => project.sshKey(one))
  if (project.servers.size >= project.serverLimit)
    throw new HetznerRefused(403, 'resource_limit_exceeded', 'server limit exceeded')
  const id = project.newId()
  const privateNets = networks.map(one => netOf(project, one, id))
  const server: HetznerServer = {
    ...{ id, name, created: project.now(), status: 'initializing', type, disk: type.disk, image, location, labels },
    ...{ protection: { delete: false, rebuild: false }, backupWindow: null, isRescueEnabled: false, privateNets },
    ipv4: enable_ipv4 ? project.primaryIp('ipv4', location, id) : null,
    ipv6: enable_ipv6 ? project.primaryIp('ipv6', location, id) : null,
    ...{ sshKeys: keys.map(one => one.name), userData: user_data ?? null, boots: 0 },
  }
  const attached = volumes.map(one => {
    const volume = project.volumes.get(one)
    if (!volume) throw notFound(`volume with ID '${one}'`)
    if (volume.server !== null || volume.location !== location) throw invalidInput('volumes', 'volume can not be attached')
    return volume
  })
  for (const { firewall } of firewalls) if (!project.firewalls.has(firewall)) throw notFound(`firewall with ID '${firewall}'`)
  project.servers.set(id, server)
  const begun = () => void (server.status = start_after_create ? 'starting' : 'off')
  const action = project.act('create_server', [resourceOf(server)], begun, {
    failed: () => (project.keepsFailedServers ? void (server.status = 'off') : project.remove(server)),
  })
  const next = [
    ...(start_after_create ? [project.act('start_server', [resourceOf(server)], () => start(server), { after: action })] : []),
    ...networks.map(network =>
      project.act('attach_to_network', [resourceOf(server), { id: network, type: 'network' }], () => {}, { after: action }),
    ),
    ...attached.map(one => attach(project, one, server, action)),
    ...firewalls.map(({ firewall }) => applyToServer(project, firewall, server, action)),
  ]
  return { server, action, next, hasPassword: keys.length === 0 }
}

export function serverShown(project: HetznerProject, server: HetznerServer): object {
  const { id, name, created: since, status, type, disk, image, labels, protection, backupWindow, isRescueEnabled } = server
  const location = project.location(server.location)
  return {
    ...{ id, name, created: since, status, labels, protection, location, load_balancers: [] },
    volumes: [...project.volumes.values()].filter(one => one.server === id).map(one => one.id),
    server_type: serverTypeShown(project, type),
    datacenter: {
      ...{ id: location.id, name: `${location.name}-dc1`, description: location.description, location },
      server_types: { available: [], available_for_migration: [], supported: [] },
    },
    image: image && imageShown(image),
    ...{ iso: null, rescue_enabled: isRescueEnabled, locked: project.isLocked('server', id), backup_window: backupWindow },
    ...{ included_traffic: 20 * 10 ** 12, ingoing_traffic: 0, outgoing_traffic: 0, primary_disk_size: disk },
    ...{ private_net: server.privateNets, placement_group: null },
    public_net: {
      ipv4: server.ipv4 && { id: server.ipv4.id, ip: server.ipv4.ip, blocked: false, dns_ptr: reverseName(server.ipv4) },
      ipv6: server.ipv6 && { id: server.ipv6.id, ip: server.ipv6.ip, blocked: false, dns_ptr: [] },
      floating_ips: [],
      firewalls: firewallsOf(project, server).map(one => ({
        ...{ id: one.id, status: isPending(project, one, server) ? 'pending' : 'applied' },
      })),
    },
  }
}

export const reverseName = ({ ip }: HetznerPrimaryIp): string =>
  `static.${ip.split('.').toReversed().join('.')}.clients.your-server.de`

const resourceOf = ({ id }: HetznerServer) => ({ id, type: 'server' })

function start(server: HetznerServer): void {
  Object.assign(server, { status: 'running', boots: server.boots + 1 })
}

function refuseLocked(project: HetznerProject, { id }: HetznerServer): void {
  if (project.isLocked('server', id)) throw new HetznerRefused(423, 'locked', 'server is locked')
}

function refuseName(project: HetznerProject, name: string, of?: HetznerServer): void {
  const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
  if (!RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`).test(name)) throw invalidInput('name', 'Must be a valid hostname.')
  for (const one of project.servers.values()) if (one !== of && one.name === name) throw uniqueness('server name')
}

function refuseUserData(text = ''): void {
  if (Buffer.byteLength(text) > 32 * 1024) throw invalidInput('user_data', 'Must be at most 32768 bytes.')
}

const isPast = (project: HetznerProject, { deprecation }: HetznerServerType['locations'][number]): boolean =>
  deprecation !== null && Date.parse(deprecation.unavailable_after) <= project.clock.now()

const outOfStock = () => new HetznerRefused(412, 'resource_unavailable', 'error during placement')

/** The location of a new server: the first in stock, if none is named. */
function placeOf(project: HetznerProject, type: HetznerServerType, wanted?: string | number): string {
  const name = wanted === undefined ? undefined : project.location(wanted).name
  const places = type.locations.filter(one => name === undefined || one.name === name)
  if (places.length === 0) throw invalidInput('location', 'unsupported location for server type')
  const offered = places.filter(one => !isPast(project, one))
  if (offered.length === 0) throw invalidInput('server_type', `server type ${type.name} is deprecated`)
  const inStock = offered.find(one => one.available)
  if (!inStock) throw outOfStock()
  return inStock.name
}

function netOf(project: HetznerProject, id: number, server: number): HetznerServer['privateNets'][number] {
  const network = project.networks.get(id)
  if (!network) throw notFound(`network with ID '${id}'`)
  const [subnet] = network.subnets
  if (!subnet) throw invalidInput('networks', 'network has no subnet')
  network.servers.push(server)
  const host = network.servers.length + 1
  const ip = subnet.ip_range.replace(/\d+\/\d+$/, String(host))
  return { network: id, ip, alias_ips: [], mac_address: `86:00:00:00:00:${host.toString(16).padStart(2, '0')}` }
}

const password = 'bnAdmwJxnLzhFxfgkNgP'
