import { createHash } from 'node:crypto'
import { HetznerRefused, invalidInput, notFound } from '../hetzner-refused'
import { amount, type Amount, type HetznerImage, type HetznerServerType } from './hetzner-catalog'
import {
  labelSelector,
  refuseLabels,
  uniqueness,
  type HetznerNetwork,
  type HetznerPrimaryIp,
  type HetznerProject,
  type HetznerSshKey,
} from './hetzner-project'
import { actionShown, created, matches, ok, sorted, type Call, type Routes } from './hetzner-routes'

/** What servers are made of: locations, types, images, keys, networks, addresses, and prices. */
export function catalogRoutes(project: HetznerProject): Routes {
  const typeShown = (one: HetznerServerType) => serverTypeShown(project, one)
  const addressShown = (one: HetznerPrimaryIp) => primaryIpShown(project, one)
  return {
    ...readable(
      'locations',
      'location',
      () => project.locations,
      one => one,
    ),
    ...readable('server_types', 'server_type', () => project.serverTypes, typeShown),
    ...readable(
      'images',
      'image',
      ({ query }) => imagesFound(project, query),
      imageShown,
      id => project.images.get(id),
    ),
    ...readable(
      'ssh_keys',
      'ssh_key',
      labeled(project.sshKeys, ({ query }, one) => matches(query, 'fingerprint', one.fingerprint)),
      one => one,
    ),
    ...readable('networks', 'network', labeled(project.networks), networkShown),
    ...readable(
      'primary_ips',
      'primary_ip',
      labeled(project.primaryIps, ({ query }, one) => matches(query, 'ip', one.ip)),
      addressShown,
    ),
    'PUT /images/{id}': ({ ids, body }) => {
      const image = imageOf(project, ids[0]!)
      if (image.type !== 'snapshot' && image.type !== 'backup')
        throw invalidInput('id', 'only snapshots and backups can be changed')
      refuseLabels(body.labels)
      Object.assign(image, body)
      return ok({ image: imageShown(image) })
    },
    'DELETE /images/{id}': ({ ids }) => {
      const image = imageOf(project, ids[0]!)
      if (image.type !== 'snapshot' && image.type !== 'backup')
        throw invalidInput('id', 'only snapshots and backups can be deleted')
      if (image.protection.delete) throw new HetznerRefused(423, 'protected', 'image is protected')
      project.images.delete(image.id)
      return { status: 204 }
    },
    'POST /images/{id}/actions/change_protection': ({ ids, body }) => {
      const image = imageOf(project, ids[0]!)
      const action = project.act('change_protection', [{ id: image.id, type: 'image' }], () =>
        Object.assign(image.protection, body),
      )
      return created({ action: actionShown(project, action) })
    },
    'POST /ssh_keys': ({ body }) => created({ ssh_key: createSshKey(project, body) }),
    'PUT /ssh_keys/{id}': ({ ids, body }) => {
      const key = project.sshKey(ids[0]!)
      refuseLabels(body.labels)
      if (body.name !== undefined && [...project.sshKeys.values()].some(one => one !== key && one.name === body.name))
        throw uniqueness('SSH key name')
      return ok({ ssh_key: Object.assign(key, body) })
    },
    'DELETE /ssh_keys/{id}': ({ ids }) => {
      project.sshKeys.delete(project.sshKey(ids[0]!).id)
      return { status: 204 }
    },
    'POST /networks': ({ body }) => created({ network: networkShown(createNetwork(project, body)) }),
    'DELETE /networks/{id}': ({ ids }) => {
      if (!project.networks.delete(ids[0]!)) throw notFound(`network with ID '${ids[0]}'`)
      return { status: 204 }
    },
    'POST /networks/{id}/actions/add_subnet': ({ ids, body }) => {
      const network = project.networks.get(ids[0]!)
      if (!network) throw notFound(`network with ID '${ids[0]}'`)
      const action = project.act('add_subnet', [{ id: network.id, type: 'network' }], () =>
        network.subnets.push(subnetOf(network.ip_range, body)),
      )
      return created({ action: actionShown(project, action) })
    },
    'GET /pricing': () => ok({ pricing: pricing(project) }),
  }
}

export function createSshKey(
  project: HetznerProject,
  { name, public_key, labels = {} }: Pick<HetznerSshKey, 'name' | 'public_key'> & { labels?: Record<string, string> },
) {
  refuseLabels(labels)
  const blob = /^(?:ssh-(?:rsa|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-\S+) ([A-Za-z0-9+/]+={0,2})(?: .*)?\s*$/.exec(
    public_key,
  )?.[1]
  if (blob === undefined) throw invalidInput('public_key', 'not a valid SSH key')
  const fingerprint = createHash('md5').update(Buffer.from(blob, 'base64')).digest('hex').match(/../g)!.join(':')
  for (const one of project.sshKeys.values()) {
    if (one.name === name) throw uniqueness('SSH key name')
    if (one.fingerprint === fingerprint) throw uniqueness('SSH key fingerprint')
  }
  const key = { id: project.newId(), name, fingerprint, public_key, labels, created: project.now() }
  project.sshKeys.set(key.id, key)
  return key
}

interface SubnetDraft {
  type: string
  network_zone: string
  ip_range?: string
}

export function createNetwork(
  project: HetznerProject,
  draft: { name: string; ip_range: string; subnets?: SubnetDraft[]; labels?: Record<string, string> },
): HetznerNetwork {
  const { name, ip_range, subnets = [], labels = {} } = draft
  refuseLabels(labels)
  if ([...project.networks.values()].some(one => one.name === name)) throw uniqueness('network name')
  const network: HetznerNetwork = {
    ...{ id: project.newId(), name, ip_range, labels, created: project.now(), servers: [] },
    subnets: subnets.map(one => subnetOf(ip_range, one)),
  }
  project.networks.set(network.id, network)
  return network
}

const subnetOf = (networkRange: string, { type, network_zone, ip_range }: SubnetDraft): HetznerNetwork['subnets'][number] => ({
  ...{ type, network_zone, ip_range: ip_range ?? networkRange.replace(/\d+$/, '24') },
  gateway: networkRange.replace(/\d+\/\d+$/, '1'),
})

export function serverTypeShown(project: HetznerProject, type: HetznerServerType): object {
  const { locations, ...fields } = type
  return {
    ...fields,
    ...{ deprecated: locations.every(one => one.deprecation !== null), deprecation: locations[0]?.deprecation ?? null },
    locations: locations.map(({ name, deprecation, available }) => ({
      ...{ id: project.location(name).id, name, deprecation, available, recommended: available && deprecation === null },
    })),
    prices: pricesOf(type),
  }
}

export const imageShown = (image: HetznerImage): object => ({ ...image })

const pricesOf = ({ locations }: HetznerServerType) =>
  locations.map(({ name, price_monthly }) => ({
    ...{ location: name, price_monthly, price_hourly: hourly(price_monthly) },
    ...{ included_traffic: 20 * 10 ** 12, price_per_tb_traffic: amount(100) },
  }))

const hourly = ({ net, gross }: Amount): Amount => ({
  net: (Number(net) / 624).toFixed(10),
  gross: (Number(gross) / 624).toFixed(16),
})

const networkShown = (network: HetznerNetwork): object => ({
  ...network,
  ...{ routes: [], load_balancers: [], protection: { delete: false }, expose_routes_to_vswitch: false },
})

function primaryIpShown(project: HetznerProject, one: HetznerPrimaryIp): object {
  const location = project.location(one.location)
  return {
    ...one,
    ...{ location, assignee_type: 'server', blocked: false, dns_ptr: [], protection: { delete: false } },
    datacenter: {
      ...{ id: location.id, name: `${location.name}-dc1`, description: location.description, location },
      server_types: { available: [], available_for_migration: [], supported: [] },
    },
  }
}

function pricing(project: HetznerProject): object {
  const { ipv4, volumePerGb, imagePerGb, backupPercentage } = project.prices
  const places = project.locations.map(one => one.name)
  const free = { net: '0.0000000000', gross: '0.0000000000000000' }
  const floating = (type: string) => ({ type, prices: places.map(location => ({ location, price_monthly: amount(300) })) })
  const primary = (type: string, price_monthly: Amount) => ({
    type,
    prices: places.map(location => ({ location, price_hourly: hourly(price_monthly), price_monthly })),
  })
  return {
    ...{ currency: 'EUR', vat_rate: '19.000000' },
    floating_ip: { price_monthly: amount(300) },
    ...{ floating_ips: ['ipv4', 'ipv6'].map(floating), load_balancer_types: [] },
    primary_ips: [primary('ipv4', ipv4), primary('ipv6', free)],
    ...{ image: { price_per_gb_month: imagePerGb }, volume: { price_per_gb_month: volumePerGb } },
    server_backup: { percentage: backupPercentage },
    server_types: project.serverTypes.map(one => ({ id: one.id, name: one.name, prices: pricesOf(one) })),
  }
}

function imagesFound(project: HetznerProject, query: URLSearchParams): HetznerImage[] {
  const isSelected = labelSelector(query.get('label_selector'))
  return [...project.images.values()].filter(
    one =>
      ['type', 'status', 'bound_to', 'architecture'].every(name => matches(query, name, one[name as keyof HetznerImage])) &&
      (one.deprecated === null || query.get('include_deprecated') === 'true') &&
      isSelected(one.labels),
  )
}

function imageOf(project: HetznerProject, id: number): HetznerImage {
  const image = project.images.get(id)
  if (!image) throw notFound(`image with ID '${id}'`)
  return image
}

const labeled =
  <R extends { labels: Record<string, string> }>(
    rows: ReadonlyMap<number, R>,
    isFound: (call: Call, row: R) => boolean = () => true,
  ) =>
  (call: Call): R[] => {
    const isSelected = labelSelector(call.query.get('label_selector'))
    return [...rows.values()].filter(one => isSelected(one.labels) && isFound(call, one))
  }

/** List and details of a resource. */
const readable = <R extends { id: number; name: string | null }>(
  path: string,
  member: string,
  rows: (call: Call) => R[],
  shown: (row: R) => unknown,
  find?: (id: number) => R | undefined,
): Routes => ({
  [`GET /${path}`]: call =>
    call.listed(
      path,
      () =>
        sorted(
          rows(call).filter(one => matches(call.query, 'name', one.name)),
          call.query,
          valueOf,
        ),
      shown,
    ),
  [`GET /${path}/{id}`]: call => {
    const found = find ? find(call.ids[0]!) : rows(call).find(one => one.id === call.ids[0])
    if (!found) throw notFound(`${member} with ID '${call.ids[0]}'`)
    return ok({ [member]: shown(found) })
  },
})

const valueOf = (row: object, field: string): string => String((row as Record<string, unknown>)[field] ?? '')
