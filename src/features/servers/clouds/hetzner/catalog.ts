import { readNumberedPages } from '../../../../adapters/numbered-pages'
import type { Clock } from '../../../../core/clock'
import { isObject } from '../../../../dns/octets'
import type { HetznerApi } from '../../../../vendors/hetzner'
import { CloudError, type Catalog, type Cloud, type Price, type ServerOrder } from '../cloud'
import { gibibyte, imageSlug, resourcesOf } from './readings'

export const perPage = 50

type Row = Record<string, unknown>
type Image = Catalog['images'][number]
type Size = Catalog['sizes'][number]

export async function readCatalog(api: HetznerApi, clock: Clock): Promise<Catalog> {
  // These lists hardly change, so that reading a page twice is not worth it.
  const all = (path: string, member: string): Promise<Row[]> =>
    readNumberedPages(clock, page => api.page(path, member, page, perPage), { isById: true })
  // Only these lists can be sorted.
  const [locations, types] = [await all('/locations?sort=id', 'locations'), await readTypes(api, clock)]
  const images = await all('/images?include_deprecated=true&status=available&sort=id', 'images')
  const networks = await all('/networks?sort=id', 'networks')
  const { currency, extras } = await readPricing(api)
  return {
    locations: locations.map(({ name, description, country, city }) => ({
      ...{ slug: String(name), title: text(description) ?? String(name), country: text(country), city: text(city) },
    })),
    sizes: types.map(type => sizeOf(type, currency, clock.now())),
    images: imagesOf(images),
    networks: networks.map(({ id, name, ip_range }) => ({
      ...{
        ref: String(id),
        title: text(name) ?? String(id),
        cidrs: typeof ip_range === 'string' ? [ip_range] : [],
        location: null,
      },
    })),
    extras,
  }
}

/** Reads a size and the prices that are added to it; for null, only prices that don't depend on a size. */
export async function readPrices(api: HetznerApi, clock: Clock, slug: string | null): ReturnType<NonNullable<Cloud['prices']>> {
  const rows =
    slug === null ? [] : (await api.page(`/server_types?name=${encodeURIComponent(slug)}`, 'server_types', 1, perPage)).rows
  const { currency, extras } = await readPricing(api)
  const found = rows.find(one => one.name === slug)
  return { size: found ? sizeOf(found, currency, clock.now()) : null, extras }
}

async function readPricing(api: HetznerApi): Promise<{ currency: string; extras: Catalog['extras'] }> {
  const { pricing } = await api.get('/pricing')
  if (!isObject(pricing) || typeof pricing.currency !== 'string')
    throw new CloudError('invalid_response', 'The response of Hetzner has no prices.')
  return { currency: pricing.currency, extras: extrasOf(pricing, pricing.currency) }
}

/** The price with VAT; null if a part of it is not known. */
export function priceOf(
  { sizes, extras }: Catalog,
  { size, location, enableIpv4, backups }: Pick<ServerOrder, 'size' | 'location' | 'enableIpv4' | 'backups'>,
): Price | null {
  if (!('slug' in size) || !extras) return null
  const found = sizes.find(one => one.slug === size.slug)
  const offer = [...(found?.offers ?? []), ...(found?.pastOffers ?? [])].find(one => one.location === location)
  const ipv4 = enableIpv4 ? extras.ipv4.find(one => one.location === location)?.price.monthlyMicros : 0
  const percent = backups ? extras.backupPercent : 0
  if (!offer?.price || ipv4 === undefined || percent === null) return null
  const { monthlyMicros, currency } = offer.price
  return { monthlyMicros: monthlyMicros + Math.round((monthlyMicros * percent) / 100) + ipv4, currency }
}

/** Parses a decimal amount in millionths, rounded half up; null if it is none. */
export function priceInMicros(amount: unknown): number | null {
  const [, whole, fraction = ''] = (typeof amount === 'string' && /^(\d{1,9})(?:\.(\d+))?$/.exec(amount)) || []
  if (whole === undefined) return null
  const micros = Number(whole) * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
  return micros + ((fraction[6] ?? '0') >= '5' ? 1 : 0)
}

/** The API can’t sort server types. */
const readTypes = (api: HetznerApi, clock: Clock): Promise<Row[]> =>
  readNumberedPages(clock, page => api.page('/server_types?', 'server_types', page, perPage))

function sizeOf(type: Row, currency: string, now: number): Size {
  const places = (Array.isArray(type.locations) ? type.locations.filter(isObject) : []).map(
    ({ name, available, deprecation }) => ({
      location: String(name),
      // Older versions of the API don’t report what is in stock.
      available: available !== false,
      unavailableAfter: isObject(deprecation) ? Date.parse(String(deprecation.unavailable_after)) : null,
    }),
  )
  const prices = Array.isArray(type.prices) ? type.prices.filter(isObject) : []
  const priceAt = (location: string) => priceIn(prices.find(one => one.location === location)?.price_monthly, currency)
  const isOffered = (one: (typeof places)[number]) => one.unavailableAfter === null || one.unavailableAfter > now
  return {
    slug: String(type.name),
    title: text(type.description) ?? String(type.name),
    resources: resourcesOf(type),
    architecture: text(type.architecture),
    sharedCores: type.cpu_type === 'shared',
    unavailableAfter: lastOf(places.map(one => one.unavailableAfter)),
    offers: places.filter(isOffered).map(({ location, available }) => ({ location, available, price: priceAt(location) })),
    pastOffers: places.filter(one => !isOffered(one)).map(({ location }) => ({ location, price: priceAt(location) })),
  }
}

/** The last of some times; null if one never comes. */
const lastOf = (times: readonly (number | null)[]): number | null =>
  times.reduce((last, one) => (last === null || one === null ? null : Math.max(last, one)), times[0] ?? null)

/** Images of the same name are for different architectures, and the size of a server determines which is used. */
function imagesOf(rows: readonly Row[]): Image[] {
  const images = new Map<string, Image>()
  for (const row of rows) {
    const slug = imageSlug(row)
    const architecture = text(row.architecture)
    const known = images.get(slug)
    if (known && known.architecture !== architecture) known.architecture = null
    if (known) continue
    images.set(slug, {
      ...{
        slug,
        title: text(row.description) ?? slug,
        family: row.os_flavor === 'unknown' ? null : text(row.os_flavor),
        architecture,
      },
      kind: kinds.has(String(row.type)) ? (row.type as Image['kind']) : 'system',
      minDiskBytes: typeof row.disk_size === 'number' ? Math.round(row.disk_size * gibibyte) : null,
      isDeprecated: typeof row.deprecated === 'string',
    })
  }
  return [...images.values()]
}

const kinds: ReadonlySet<string> = new Set(['system', 'snapshot', 'backup', 'app'])

function extrasOf(pricing: Row, currency: string): Catalog['extras'] {
  const { primary_ips, server_backup, volume, image } = pricing
  const ipv4 = (Array.isArray(primary_ips) ? primary_ips.filter(isObject) : []).find(one => one.type === 'ipv4')
  const percent = isObject(server_backup) ? Number(server_backup.percentage) : NaN
  return {
    ipv4: (Array.isArray(ipv4?.prices) ? ipv4.prices.filter(isObject) : []).flatMap(({ location, price_monthly }) => {
      const price = priceIn(price_monthly, currency)
      return price ? [{ location: String(location), price }] : []
    }),
    backupPercent: Number.isFinite(percent) ? percent : null,
    volumePerGb: isObject(volume) ? priceIn(volume.price_per_gb_month, currency) : null,
    snapshotPerGb: isObject(image) ? priceIn(image.price_per_gb_month, currency) : null,
  }
}

function priceIn(amount: unknown, currency: string): Price | null {
  const monthlyMicros = isObject(amount) ? priceInMicros(amount.gross) : null
  return monthlyMicros === null ? null : { monthlyMicros, currency }
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
