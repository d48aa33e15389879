import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import { instanceFacts } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { FetchFailed } from '../../core/net/fetch-failure'
import { bundledBootstrap, parseBootstrap, RefusedBootstrap, refuseWorse, type Bootstrap } from './bootstrap'
import { get } from './clients'
import { dayMs } from './pace'
import { registryFacts } from './tables'

const factName = 'rdap_bootstrap'
const memoryMs = 10 * 60_000

/** The bootstrap file as it is stored. */
interface Stored {
  etag: string | null
  text: string
  /** When the server last confirmed it (ms UTC). */
  checkedAt: number
}

/** The file in use, and why a newer one was not. */
interface BootstrapInUse {
  bootstrap: Bootstrap
  /** When it was last confirmed (ms UTC); null if it is part of this version. */
  checkedAt: number | null
}

const inMemory = new WeakMap<Hub, { readAt: number; use: BootstrapInUse }>()

/** The newest bootstrap file: the one that was fetched last, or the one in this version. */
export async function bootstrapOf(hub: Hub): Promise<BootstrapInUse> {
  const now = hub.clock.now()
  const known = inMemory.get(hub)
  if (known && now >= known.readAt && now - known.readAt < memoryMs) return known.use
  const stored = await readStored(hub)
  const fetched = stored && parseBootstrap(stored.text)
  const bundled = bundledBootstrap()
  const use: BootstrapInUse =
    fetched && fetched.publishedAt >= bundled.publishedAt
      ? { bootstrap: fetched, checkedAt: stored.checkedAt }
      : { bootstrap: bundled, checkedAt: null }
  inMemory.set(hub, { readAt: now, use })
  return use
}

async function readStored(hub: Hub): Promise<Stored | null> {
  const [row] = await hub.read.select({ value: instanceFacts.value }).from(instanceFacts).where(eq(instanceFacts.name, factName))
  return row ? (JSON.parse(row.value) as Stored) : null
}

/**
 * Fetches the bootstrap file once a day while domains are watched. A file that looks broken is not used. After a failure, the next call
 * retries.
 */
export async function refreshBootstrap(hub: Hub): Promise<void> {
  const url = hub.config.rdapBootstrapUrl
  if (url === null) return
  const [wanted] = await hub.read.select({ name: registryFacts.name }).from(registryFacts).limit(1)
  if (!wanted) return
  const stored = await readStored(hub)
  if (stored && hub.clock.now() - stored.checkedAt < dayMs) return
  try {
    const next = await fetchNewer(hub, url, stored)
    await record(hub, async tx => {
      const value = JSON.stringify(next)
      await tx
        .insert(instanceFacts)
        .values({ name: factName, value })
        .onConflictDoUpdate({ target: instanceFacts.name, set: { value } })
      return { result: undefined }
    })
    inMemory.delete(hub)
  } catch (error) {
    if (!(error instanceof FetchFailed || error instanceof RefusedBootstrap)) throw error
    hub.log.warn({ url, reason: error.message }, 'could not update the list of RDAP servers; the previous list stays in use')
  }
}

/** @throws FetchFailed, RefusedBootstrap */
async function fetchNewer(hub: Hub, url: string, stored: Stored | null): Promise<Stored> {
  const etag = stored?.etag ?? null
  const response = await get(hub, url, { Accept: 'application/json', ...(etag !== null && { 'If-None-Match': etag }) })
  const checkedAt = hub.clock.now()
  if (response.status === 304 && stored) return { ...stored, checkedAt }
  if (response.status !== 200) throw new RefusedBootstrap(`The server returned the status code ${response.status}.`)
  if (response.bodyTruncated) throw new RefusedBootstrap('It is larger than 1 MiB.')
  const text = new TextDecoder().decode(response.body)
  refuseWorse(parseBootstrap(text), (await bootstrapOf(hub)).bootstrap)
  return { etag: response.headers.get('etag')?.slice(0, 500) ?? null, text, checkedAt }
}
