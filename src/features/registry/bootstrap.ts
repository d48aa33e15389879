import snapshotFile from './rdap-bootstrap.json'
import { registryDate } from './registry-date'

/** A bootstrap file for RDAP servers of domains (RFC 9224 section 4). */
export interface Bootstrap {
  /** When it was published (ms UTC). */
  publishedAt: number
  /** The preferred base URL, which ends with a slash, by suffix in lowercase A-labels. */
  servers: ReadonlyMap<string, string>
}

/** Why a bootstrap file was refused, as a sentence. */
export class RefusedBootstrap extends Error {
  override name = 'RefusedBootstrap'
}

/** @throws RefusedBootstrap if the text is no bootstrap file */
export function parseBootstrap(text: string): Bootstrap {
  try {
    return bootstrapOf(JSON.parse(text))
  } catch (error) {
    if (error instanceof RefusedBootstrap) throw error
    throw new RefusedBootstrap('It is not JSON.')
  }
}

let snapshot: Bootstrap | null = null

/** The bootstrap file that is part of this version. */
export const bundledBootstrap = (): Bootstrap => (snapshot ??= bootstrapOf(snapshotFile))

function bootstrapOf(value: unknown): Bootstrap {
  const file = value as { version?: unknown; publication?: unknown; services?: unknown } | null | undefined
  const publishedAt = typeof file?.publication === 'string' ? registryDate(file.publication) : null
  if (file?.version !== '1.0' || publishedAt === null || !Array.isArray(file.services))
    throw new RefusedBootstrap('It is not a bootstrap file of RDAP in version 1.0.')
  const servers = new Map<string, string>()
  for (const service of file.services as unknown[]) {
    const [suffixes, urls] = Array.isArray(service) ? (service as unknown[]) : []
    const base = baseOf(urls)
    if (base === null || !Array.isArray(suffixes)) continue
    for (const suffix of suffixes as unknown[])
      if (typeof suffix === 'string' && /^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(suffix)) servers.set(suffix.toLowerCase(), base)
  }
  if (servers.size === 0) throw new RefusedBootstrap('It contains no servers.')
  return { publishedAt, servers }
}

// Registries leave from time to time, but not many at once.
const minShare = 0.8

/**
 * Refuses a bootstrap file that looks broken compared with the one in use.
 * @throws RefusedBootstrap
 */
export function refuseWorse(next: Bootstrap, current: Bootstrap): void {
  if (next.publishedAt < current.publishedAt) throw new RefusedBootstrap('It is older than the file in use.')
  if (next.servers.size < current.servers.size * minShare)
    throw new RefusedBootstrap(
      `It contains only ${next.servers.size} top-level domains; the file in use contains ${current.servers.size}.`,
    )
}

/** The longest suffix of a name that has a server, and its base URL. */
export function serverOf({ servers }: Bootstrap, name: string): string | null {
  for (let suffix = name; ; suffix = suffix.slice(suffix.indexOf('.') + 1)) {
    const base = servers.get(suffix)
    if (base !== undefined) return base
    if (!suffix.includes('.')) return null
  }
}

/** The base URL to use: https is preferred (RFC 9224 section 3). */
function baseOf(urls: unknown): string | null {
  const bases = (Array.isArray(urls) ? (urls as unknown[]) : []).flatMap(one => {
    const url = typeof one === 'string' ? URL.parse(one) : null
    return url && /^https?:$/.test(url.protocol) && !url.search && !url.hash ? [url.href.replace(/\/?$/, '/')] : []
  })
  return bases.find(base => base.startsWith('https:')) ?? bases[0] ?? null
}
