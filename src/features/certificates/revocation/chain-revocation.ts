import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import type { Hub } from '../../../core/hub'
import type { NetworkPolicy } from '../../../core/net/egress'
import type { Certificate } from '../../../core/x509/chain'
import { describe, type Described } from '../describe'
import { certificates, type CrlRow } from '../tables'
import { storedCrl } from './crl-rows'
import { currentCrl, firstVerdict, type CrlUse } from './current-crl'
import { CrlUnusable } from './download-crl'

/** How long lists are downloaded while someone waits (ms). */
const waitMs = 5000

/** Downloads of lists while someone waits: within a time limit for all of them. Those that failed are not tried again. */
interface WaitingDownloads {
  /** As of `performance.now()`. */
  until: number
  failed: Set<string>
}

export const waitForDownloads = (): WaitingDownloads => ({ until: performance.now() + waitMs, failed: new Set() })

/**
 * Whether a certificate or one of its issuers is revoked; null if that can’t be found out.
 * @param path from the certificate to its root
 * @param options.downloads for revocation lists that are not stored. Without, only what is known already counts.
 */
export async function isPathRevoked(
  hub: Hub,
  workspaceId: string,
  path: readonly Certificate[],
  { policy, downloads }: { policy: NetworkPolicy; downloads: WaitingDownloads | null },
): Promise<boolean | null> {
  if (await isKnownAsRevoked(hub, workspaceId, path)) return true
  const described = path.map(describe)
  const verdicts = await Promise.all(
    described.slice(0, -1).map(async (one, at) => {
      const urls = path[at]!.facts.crlUrls
      const issuer = described[at + 1]
      if (!one || !issuer) return null
      return await isRevoked(hub, one, { urls, issuer, downloads, use: { workspaceId, policy, issuers: [issuer] } })
    }),
  )
  return verdicts.includes(true) ? true : (verdicts[0] ?? null)
}

async function isKnownAsRevoked({ read }: Hub, workspaceId: string, path: readonly Certificate[]): Promise<boolean> {
  const { id, workspaceId: workspace, sha256, revokedAt } = certificates
  const revoked = await forIds(
    path.map(one => one.sha256),
    (size, list, values) =>
      prepared(read, `revoked-certificates|${size}`, handle =>
        handle
          .select({ id })
          .from(certificates)
          .where(and(eq(workspace, sql.placeholder('workspaceId')), sql`${sha256} in ${list}`, isNotNull(revokedAt)))
          .limit(1),
      ).execute({ ...values, workspaceId }),
  )
  return revoked.length > 0
}

async function isRevoked(
  hub: Hub,
  certificate: Described,
  { urls, issuer, downloads, use }: { urls: string[]; issuer: Described; downloads: WaitingDownloads | null; use: CrlUse },
): Promise<boolean | null> {
  try {
    const found = await firstVerdict(hub, urls, url => crlOf(hub, url, use, downloads), certificate, issuer)
    return found && found.verdict !== null
  } catch (error) {
    if (!(error instanceof CrlUnusable)) throw error
    return null
  }
}

async function crlOf(hub: Hub, url: string, use: CrlUse, downloads: WaitingDownloads | null): Promise<CrlRow | undefined> {
  const leftMs = downloads && !downloads.failed.has(url) ? downloads.until - performance.now() : 0
  if (leftMs <= 0 && !(await isStored(hub, url))) return undefined
  try {
    return await currentCrl(hub, url, { ...use, ...(leftMs > 0 && { totalMs: leftMs }) })
  } catch (error) {
    downloads?.failed.add(url)
    throw error
  }
}

const isStored = async (hub: Hub, url: string): Promise<boolean> =>
  ((await storedCrl(hub.read, url))?.keptUntil ?? 0) > hub.clock.now()
