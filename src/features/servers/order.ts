import type { FieldProblem } from '../../core/problem'
import type { Catalog, CloudKind, Price, ServerOrder, SizeOrder } from './clouds/cloud'
import type { ServerOrderView } from './shapes'

/** A size as the contract of clouds has it. */
export const sizeOrderOf = (size: NonNullable<ServerOrderView['size']>): SizeOrder =>
  typeof size === 'string' ? { slug: size } : { cores: size.cores, memoryBytes: size.memory_bytes, diskBytes: size.disk_bytes }

/** What is missing or impossible in an order, before anything is sent. */
export function orderProblems(
  kind: CloudKind,
  catalog: Catalog,
  name: string,
  order: ServerOrderView,
  { hasUserData, sshKeyCount }: { hasUserData: boolean; sshKeyCount: number },
): FieldProblem[] {
  const can = kind.capabilities
  const problems: FieldProblem[] = []
  const refuse = (field: string, code: string, detail: string) => problems.push({ pointer: `#/${field}`, code, detail })
  if (!new RegExp(can.names.pattern).test(name)) refuse('name', 'format', can.names.rule)
  const places = [
    ...(order.location === null ? [] : [{ place: order.location, field: 'location' }]),
    ...order.fallback_locations.map((place, at) => ({ place, field: `fallback_locations/${at}` })),
  ]
  if (order.location === null && can.needsLocation)
    refuse('location', 'required', `is required. Locations: ${slugsOf(catalog.locations)}.`)
  for (const { place, field } of places)
    if (!catalog.locations.some(one => one.slug === place)) refuse(field, 'not_found', noLocation(place, catalog.locations))
    else if (typeof order.size === 'string' && field !== 'location' && isNotOffered(catalog, order.size, place))
      refuse(field, 'not_found', notOffered(catalog, order.size, place))
  problems.push(...sizeProblems(kind, catalog, order))
  if (order.image === null) refuse('image', 'required', 'is required to create a server.')
  else if (!catalog.images.some(one => one.slug === order.image))
    refuse('image', 'not_found', `There is no image ${order.image}. Images: ${slugsOf(catalog.images)}.`)
  if (can.sshKeys === 'required' && sshKeyCount === 0)
    refuse('ssh_keys', 'required', 'must have at least one SSH key. Without one, the cloud would create a password for root.')
  const unsupported = (field: string, what: string) => refuse(field, 'unsupported', `${kind.title} doesn’t support ${what}.`)
  if (can.sshKeys === 'unsupported' && order.ssh_keys.length > 0) unsupported('ssh_keys', 'SSH keys for new servers')
  if (!can.userData && hasUserData) unsupported('user_data', 'user data')
  if (!can.networks && order.networks.length > 0) unsupported('networks', 'private networks')
  order.networks.forEach((ref, at) => {
    if (can.networks && !catalog.networks.some(one => one.ref === ref))
      refuse(`networks/${at}`, 'not_found', `There is no network ${ref}.`)
  })
  if (!can.backups && order.backups) unsupported('backups', 'backups')
  if (!can.addressFamilies && !(order.enable_ipv4 && order.enable_ipv6))
    unsupported(order.enable_ipv4 ? 'enable_ipv6' : 'enable_ipv4', 'servers without one of the address families')
  return problems
}

const maxListed = 30

/** The slugs of what exists, for messages. */
export function slugsOf(list: readonly { slug: string }[]): string {
  const shown = list.slice(0, maxListed).map(one => one.slug)
  return `${shown.join(', ')}${list.length > shown.length ? ', …' : ''}`
}

export const noLocation = (location: string, locations: Catalog['locations']): string =>
  `There is no location ${location}. ${locations.length === 0 ? 'This cloud account has no locations, so leave it out.' : `Locations: ${slugsOf(locations)}.`}`

/** Whether a size of the catalog exists, but not in a location. */
const isNotOffered = (catalog: Catalog, slug: string, location: string): boolean =>
  catalog.sizes.find(one => one.slug === slug)?.offers.every(one => one.location !== location) ?? false

const notOffered = (catalog: Catalog, slug: string, location: string): string => {
  const isPast = catalog.sizes.find(one => one.slug === slug)?.pastOffers?.some(one => one.location === location)
  return isPast ? `${slug} can no longer be ordered in ${location}.` : `${slug} is not offered in ${location}.`
}

function sizeProblems({ capabilities: can, title }: CloudKind, catalog: Catalog, order: ServerOrderView): FieldProblem[] {
  const refuse = (code: string, detail: string): FieldProblem[] => [{ pointer: '#/size', code, detail }]
  const { size } = order
  if (size === null) return refuse('required', 'is required to create a server.')
  if (can.sizes === 'free')
    return typeof size === 'string'
      ? refuse(
          'type',
          `must be an object with \`cores\`, \`memory_bytes\`, and \`disk_bytes\`, because ${title} has no fixed sizes.`,
        )
      : []
  // A location that doesn't exist is a problem of its own.
  const location = catalog.locations.some(one => one.slug === order.location) ? order.location : null
  const inStock = catalog.sizes.filter(one =>
    one.offers.some(offer => offer.available && (location === null || offer.location === location)),
  )
  const possible = `Sizes${location === null ? '' : ` in ${location}`}: ${slugsOf(inStock)}.`
  if (typeof size !== 'string') return refuse('type', `must be the slug of a size. ${possible}`)
  const found = catalog.sizes.find(one => one.slug === size)
  if (!found) return refuse('not_found', `There is no size ${size}. ${possible}`)
  if (location !== null && !found.offers.some(one => one.location === location))
    return refuse('not_found', `${notOffered(catalog, size, location)} ${possible}`)
  return []
}

/** The price of an order in its most expensive location; null if it is not known, or for clouds without prices. */
export function highestPrice(kind: CloudKind, catalog: Catalog, order: ServerOrderView): Price | null {
  const prices = [order.location, ...order.fallback_locations].map(location => priceOf(kind, catalog, { ...order, location }))
  return prices.includes(null)
    ? null
    : prices.reduce((highest, one) => (one!.monthlyMicros > highest!.monthlyMicros ? one : highest))
}

/** The price of an order; null if it is not known, or for clouds without prices. */
export function priceOf(
  kind: CloudKind,
  catalog: Catalog,
  order: Pick<ServerOrderView, 'size' | 'location' | 'enable_ipv4' | 'backups'>,
): Price | null {
  if (order.size === null) return null
  const { location, enable_ipv4: enableIpv4, backups } = order
  return kind.price?.(catalog, { size: sizeOrderOf(order.size), location, enableIpv4, backups }) ?? null
}

/** An order as the contract of clouds has it, without its user data. */
export const cloudOrderOf = (
  server: { id: string; name: string; labels: Record<string, string> },
  order: ServerOrderView,
  sshKeys: ServerOrder['sshKeys'],
  volumes: readonly { providerRef: string | null }[],
): Omit<ServerOrder, 'userData' | 'ref' | 'firewalls'> => ({
  mark: server.id,
  name: server.name,
  location: order.location,
  size: sizeOrderOf(order.size!),
  image: order.image!,
  sshKeys,
  labels: server.labels,
  networks: order.networks,
  ...(volumes.length > 0 && { volumes: volumes.map(one => one.providerRef!) }),
  enableIpv4: order.enable_ipv4,
  enableIpv6: order.enable_ipv6,
  backups: order.backups,
  start: order.start,
})
