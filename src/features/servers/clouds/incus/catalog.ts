import { formatNetwork, parseRange } from '../../../../core/net/address'
import { isObject } from '../../../../dns/octets'
import { CloudError, type Catalog } from '../cloud'
import type { IncusClient } from './client'

/** Reads what new servers can be created from. Sizes are free. */
export async function readCatalog(client: IncusClient): Promise<Catalog> {
  const [images, networks, locations] = await Promise.all([
    client.list('/images?recursion=1'),
    client.list('/networks?recursion=1'),
    membersOf(client),
  ])
  return { locations, sizes: [], images: images.flatMap(imagesOf), networks: networks.flatMap(networkIn) }
}

/** Members of the cluster; none without a cluster, or if the certificate may not read them. */
async function membersOf(client: IncusClient): Promise<Catalog['locations']> {
  try {
    const cluster = await client.find('/cluster')
    if (cluster?.enabled !== true) return []
    const members = await client.list('/cluster/members?recursion=1')
    return members.map(({ server_name }) => ({
      slug: String(server_name),
      title: String(server_name),
      country: null,
      city: null,
    }))
  } catch (error) {
    if (error instanceof CloudError && error.failure === 'unauthorized') return []
    throw error
  }
}

/** An image by each of its aliases, or by its fingerprint. */
function imagesOf({ fingerprint, aliases, properties, architecture }: Record<string, unknown>): Catalog['images'] {
  if (typeof fingerprint !== 'string') throw new CloudError('incomplete', 'The response has an image without a fingerprint.')
  const named = (Array.isArray(aliases) ? aliases : []).flatMap(one =>
    isObject(one) && typeof one.name === 'string' ? [one.name] : [],
  )
  const { os, description } = isObject(properties) ? properties : {}
  return (named.length > 0 ? named : [fingerprint]).map(slug => ({
    slug,
    title: typeof description === 'string' && description !== '' ? description : slug,
    family: typeof os === 'string' && os !== '' ? os.toLowerCase() : null,
    architecture: typeof architecture === 'string' ? architecture : null,
    kind: 'system',
    minDiskBytes: null,
    isDeprecated: false,
  }))
}

function networkIn({ name, managed, description, config }: Record<string, unknown>): Catalog['networks'] {
  if (managed !== true || typeof name !== 'string') return []
  const settings = isObject(config) ? config : {}
  const cidrs = [settings['ipv4.address'], settings['ipv6.address']].flatMap(one => (typeof one === 'string' ? cidrOf(one) : []))
  const title = typeof description === 'string' && description !== '' ? `${name} (${description})` : name
  return [{ ref: name, title, cidrs, location: null }]
}

/** The network of an address with a prefix length; none for `none` and `auto`. */
function cidrOf(text: string): string[] {
  const range = parseRange(text)
  return range ? [formatNetwork(range)] : []
}
