import { eq } from 'drizzle-orm'
import { callAdapter } from '../../../adapters/call'
import { refuseTooManyRequests } from '../../../access/limiter'
import { record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Hub } from '../../../core/hub'
import { onePage } from '../../../core/shapes'
import type { Catalog, Cloud, Price } from '../clouds/cloud'
import { amountOf } from '../money'
import { accountOf } from './accounts'
import type { CatalogImageView, CatalogLocationView, CatalogNetworkView, CatalogSizeView } from './catalog-shapes'
import { openCloud } from './open'
import { isCurrent } from './readings'
import { cloudCatalogs } from './tables'
import type { CloudAccountRow } from './view'

/** How long a catalog is used, in milliseconds. */
const validMs = 3_600_000

/** What an account offers. `readAt`: when it was read (ms UTC). */
export type DatedCatalog = Catalog & { readAt: number }

/** What an account offers, read at most once an hour. @throws CloudError */
export async function catalogOf(hub: Hub, account: CloudAccountRow, isInteractive: boolean): Promise<DatedCatalog> {
  const [stored] = await hub.read.select().from(cloudCatalogs).where(eq(cloudCatalogs.accountId, account.id))
  if (stored && stored.readAt > hub.clock.now() - validMs) return dated(stored)
  return await readCatalog(hub, account, isInteractive)
}

const dated = ({ catalog, readAt }: Pick<typeof cloudCatalogs.$inferSelect, 'catalog' | 'readAt'>): DatedCatalog => ({
  ...catalog,
  readAt,
})

/** Reads what an account offers now. It is not stored if the account has other settings meanwhile. @throws CloudError */
export async function readCatalog(hub: Hub, account: CloudAccountRow, isInteractive: boolean): Promise<DatedCatalog> {
  const catalog = await (await openCloud(hub, account, isInteractive)).catalog()
  const values = { catalog, readAt: hub.clock.now() }
  await record(hub, async tx => {
    if (await isCurrent(tx, account))
      await tx
        .insert(cloudCatalogs)
        .values({ accountId: account.id, ...values })
        .onConflictDoUpdate({ target: cloudCatalogs.accountId, set: values })
    return { result: undefined }
  })
  return dated(values)
}

/**
 * The catalog with the prices that a size has now, read with as few requests as possible.
 * @param slug null for only the prices that don't depend on a size, such as those of volumes
 * @throws CloudError
 */
export async function readPrices(hub: Hub, account: CloudAccountRow, cloud: Cloud, slug: string | null): Promise<DatedCatalog> {
  const ofAccount = eq(cloudCatalogs.accountId, account.id)
  const [stored] = await hub.read.select().from(cloudCatalogs).where(ofAccount)
  if (!stored || !cloud.prices) return await readCatalog(hub, account, false)
  const { size, extras } = await cloud.prices(slug)
  const readAt = hub.clock.now()
  const merged = ({ catalog }: typeof stored): Catalog => {
    const sizes = catalog.sizes.flatMap(one => (one.slug === slug ? (size ?? []) : one))
    const isNew = size !== null && !catalog.sizes.some(one => one.slug === slug)
    return { ...catalog, sizes: isNew ? [...sizes, size] : sizes, extras }
  }
  await record(hub, async tx => {
    const [now] = await forUpdate(tx.select().from(cloudCatalogs).where(ofAccount))
    // What was read is as new as what someone else may have stored meanwhile.
    if (now && (await isCurrent(tx, account)))
      await tx
        .update(cloudCatalogs)
        .set({ catalog: merged(now) })
        .where(ofAccount)
    return { result: undefined }
  })
  return { ...merged(stored), readAt }
}

interface CatalogQuery {
  refresh?: boolean
}

/** The catalog, for a request. @throws Problem 404, 424, 429 */
async function requested(ctx: Ctx, id: string, { refresh = false }: CatalogQuery): Promise<DatedCatalog> {
  const account = await accountOf(ctx, id)
  if (refresh) refuseTooManyRequests(ctx, 'cloud-catalogs', id, 10)
  return await callAdapter(() => (refresh ? readCatalog : catalogOf)(ctx.hub, account, true))
}

/** A list of a catalog, on one page. */
const listed = <T>(catalog: DatedCatalog, data: T[]) => ({ ...onePage(data), as_of: new Date(catalog.readAt).toISOString() })

const priceView = (price: Price | null) => price && { monthly: amountOf(price.monthlyMicros), currency: price.currency }

/** @throws Problem 404, 424, 429 */
export async function listLocations(ctx: Ctx, id: string, query: CatalogQuery) {
  const catalog = await requested(ctx, id, query)
  return listed<CatalogLocationView>(catalog, catalog.locations)
}

/** Sizes that can no longer be ordered anywhere are left out. @throws Problem 404, 424, 429 */
export async function listSizes(ctx: Ctx, id: string, query: CatalogQuery) {
  const catalog = await requested(ctx, id, query)
  return listed<CatalogSizeView>(
    catalog,
    catalog.sizes
      .filter(size => size.offers.length > 0)
      .map(size => ({
        slug: size.slug,
        title: size.title,
        cores: size.resources.cores,
        memory_bytes: size.resources.memoryBytes,
        disk_bytes: size.resources.diskBytes,
        architecture: size.architecture,
        shared_cores: size.sharedCores,
        unavailable_after: size.unavailableAfter === null ? null : new Date(size.unavailableAfter).toISOString(),
        offers: size.offers.map(({ location, price, available }) => ({ location, price: priceView(price), available })),
      })),
  )
}

/** @throws Problem 404, 424, 429 */
export async function listImages(ctx: Ctx, id: string, query: CatalogQuery) {
  const catalog = await requested(ctx, id, query)
  return listed<CatalogImageView>(
    catalog,
    catalog.images.map(image => ({
      slug: image.slug,
      title: image.title,
      family: image.family,
      architecture: image.architecture,
      kind: image.kind,
      min_disk_bytes: image.minDiskBytes,
      deprecated: image.isDeprecated,
    })),
  )
}

/** @throws Problem 404, 424, 429 */
export async function listNetworks(ctx: Ctx, id: string, query: CatalogQuery) {
  const catalog = await requested(ctx, id, query)
  return listed<CatalogNetworkView>(catalog, catalog.networks)
}
