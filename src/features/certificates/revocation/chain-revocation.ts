import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import type { NetworkPolicy } from '../../../core/net/egress'
import type { Certificate } from '../../../core/x509/chain'
import { describe, type Described } from '../describe'
import { certificates, type CrlRow } from '../tables'
import { storedCrl } from './crl-rows'
import { currentCrl, verdictOf } from './current-crl'
import { CrlUnusable } from './download-crl'

/** Time limit for a list that is downloaded while someone waits (ms). */
const waitMs = 5000

/**
 * Whether a certificate or one of its issuers is revoked; null if that can’t be found out.
 * @param path from the certificate to its root
 * @param options.mayDownload whether revocation lists that are not stored are downloaded. Else only what is known already counts.
 */
export async function isPathRevoked(
  hub: Hub,
  workspaceId: string,
  path: readonly Certificate[],
  { policy, mayDownload }: { policy: NetworkPolicy; mayDownload: boolean },
): Promise<boolean | null> {
  if (await isKnownAsRevoked(hub, workspaceId, path)) return true
  const described = path.map(describe)
  const verdicts = await Promise.all(
    described.slice(0, -1).map(async (one, at) => {
      const url = path[at]!.facts.crlUrls[0]
      const issuer = described[at + 1]
      return one && issuer && url !== undefined ? await isRevoked(hub, one, { url, issuer, policy, mayDownload }) : null
    }),
  )
  return verdicts.includes(true) ? true : (verdicts[0] ?? null)
}

async function isKnownAsRevoked({ read }: Hub, workspaceId: string, path: readonly Certificate[]): Promise<boolean> {
  const { id, workspaceId: workspace, sha256, revokedAt } = certificates
  const sha256s = path.map(one => one.sha256)
  const revoked = await read
    .select({ id })
    .from(certificates)
    .where(and(eq(workspace, workspaceId), inArray(sha256, sha256s), isNotNull(revokedAt)))
    .limit(1)
  return revoked.length > 0
}

async function isRevoked(
  hub: Hub,
  certificate: Described,
  { url, issuer, policy, mayDownload }: { url: string; issuer: Described; policy: NetworkPolicy; mayDownload: boolean },
): Promise<boolean | null> {
  try {
    const crl: CrlRow | undefined =
      mayDownload || (await isStored(hub, url))
        ? await currentCrl(hub, url, { policy, issuers: [issuer], totalMs: waitMs })
        : undefined
    return crl ? (await verdictOf(hub, crl, certificate, issuer)) !== null : null
  } catch (error) {
    if (!(error instanceof CrlUnusable)) throw error
    return null
  }
}

const isStored = async (hub: Hub, url: string): Promise<boolean> =>
  ((await storedCrl(hub.read, url))?.keptUntil ?? 0) > hub.clock.now()
