import { setTimeout as sleep } from 'node:timers/promises'
import { limiterOf } from '../../../access/limiter'
import { revocationLists } from '../../../access/rate-limits'
import { record } from '../../../core/change'
import { sha256Hex } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import { newUuid4 } from '../../../core/ids'
import type { NetworkPolicy } from '../../../core/net/egress'
import { runInSlices } from '../../../core/time-slices'
import { parsedOrNull, type Certificate } from '../../../core/x509/chain'
import { isCrlSignedBy, readCrl, splitCrlEntries, type Crl } from '../../../core/x509/crl'
import { DerError } from '../../../core/x509/der'
import type { Described } from '../describe'
import type { CrlRow } from '../tables'
import { CrlUnusable, downloadCrl, timeLeft, vetVisited } from './download-crl'
import { entryOf, saveCrl, storedCrl } from './crl-rows'

/** A certificate that may have signed a list. */
type CrlIssuer = Pick<Described, 'der' | 'subjectHash' | 'spkiSha256'>

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** By how much clocks may differ (ms). */
const toleranceMs = 5 * 60_000
const bytesPerBucket = 32 * 1024
const maxBuckets = 256
/** How much of a list counts as one download. */
const bytesPerCount = 1024 * 1024
/** At most this many keys are tried. */
const maxTried = 10

/** Who needs a list. */
export interface CrlUse {
  /** The download counts against the limit of this workspace. */
  workspaceId: string
  policy: NetworkPolicy
  /** Certificates of CAs. One of them must have signed the list. */
  issuers: readonly CrlIssuer[]
}

/** Downloads in this process, by address. */
const downloads = new WeakMap<Hub, Map<string, Promise<unknown>>>()
function downloadsOf(hub: Hub): Map<string, Promise<unknown>> {
  let own = downloads.get(hub)
  if (!own) downloads.set(hub, (own = new Map()))
  return own
}

/**
 * Returns the revocation list of an address, which is downloaded if it isn’t stored or the next one is due. One download serves all
 * workspaces whose network policies allow the address.
 * @param totalMs time limit of the download, and of waiting for another one of the same list
 * @throws CrlUnusable
 */
export async function currentCrl(
  hub: Hub,
  url: string,
  { totalMs = 60_000, ...use }: CrlUse & { totalMs?: number },
): Promise<CrlRow> {
  const until = performance.now() + totalMs
  const stored = await dueLater(hub, url, use.policy)
  if (stored) return stored
  const running = downloadsOf(hub)
  for (let other = running.get(url); other; other = running.get(url))
    await Promise.race([other, sleep(timeLeft(until), undefined, { ref: false })])
  const own = dueLaterOrNew(hub, url, use, until)
  running.set(
    url,
    own.catch(() => undefined),
  )
  try {
    return await own
  } finally {
    running.delete(url)
  }
}

/** The stored list if the next one is not due yet. @throws CrlUnusable if the network policy doesn’t allow its address */
async function dueLater(hub: Hub, url: string, policy: NetworkPolicy): Promise<CrlRow | null> {
  const stored = await storedCrl(hub.read, url)
  if (!stored || stored.keptUntil <= hub.clock.now()) return null
  await vetVisited(hub, stored.visited, policy)
  return stored
}

async function dueLaterOrNew(hub: Hub, url: string, { workspaceId, policy, issuers }: CrlUse, until: number): Promise<CrlRow> {
  // Another one may have been downloaded in the meantime.
  const current = await dueLater(hub, url, policy)
  if (current) return current
  const stored = await storedCrl(hub.read, url)
  countDownload(hub, workspaceId, 1)
  const { bytes, visited } = await downloadCrl(hub, url, { policy, totalMs: timeLeft(until) })
  countDownload(hub, workspaceId, Math.ceil(bytes.length / bytesPerCount) - 1)
  try {
    const crl = await runInSlices(readCrl(bytes))
    const now = hub.clock.now()
    if (crl.thisUpdate > now + toleranceMs) throw new DerError(`is valid from ${minute(crl.thisUpdate)}.`)
    if (crl.nextUpdate <= now) throw new DerError(`expired on ${minute(crl.nextUpdate)}.`)
    if (crl.urls.length > 0 && !crl.urls.includes(url)) throw new DerError('is one that belongs to another address.')
    const issuer = await signerOf(crl, issuers)
    if (stored?.spkiSha256 === issuer.spkiSha256 && stored.thisUpdate > crl.thisUpdate)
      throw new DerError(`is older than the one that was downloaded before. It is from ${minute(crl.thisUpdate)}.`)
    const buckets = Math.min(maxBuckets, Math.ceil(crl.entries.length / bytesPerBucket) || 1)
    const row: CrlRow = {
      ...{ id: newUuid4(), url, visited, issuerHash: sha256Hex(crl.issuer), spkiSha256: issuer.spkiSha256!, scope: crl.scope },
      ...{ thisUpdate: crl.thisUpdate, nextUpdate: crl.nextUpdate, size: crl.entries.length, buckets },
      keptUntil: Math.min(Math.max(crl.nextUpdate, now + hourMs), now + dayMs),
    }
    const parts = await runInSlices(splitCrlEntries(crl.entries, buckets))
    const saved = await record(hub, async tx => ({ result: await saveCrl(tx, row, parts, now) }))
    if (saved.id !== row.id) await vetVisited(hub, saved.visited, policy)
    return saved
  } catch (error) {
    throw error instanceof DerError ? new CrlUnusable(`The revocation list ${error.message}`) : error
  }
}

/** Limits how much of the space for all lists a workspace can use. @throws CrlUnusable */
function countDownload(hub: Hub, workspaceId: string, count: number): void {
  const limit = revocationLists(workspaceId)
  if (!limiterOf(hub).take([limit], hub.clock.now(), count).allowed)
    throw new CrlUnusable(
      `The revocation list was not downloaded: the limit of the workspace is ${limit.quota} lists of up to 1 MiB per hour.`,
    )
}

/** Finds the certificate whose key signed a list. @throws DerError if there is none */
async function signerOf(crl: Crl, issuers: readonly CrlIssuer[]): Promise<CrlIssuer> {
  const hash = sha256Hex(crl.issuer)
  const named = issuers.filter(one => one.subjectHash === hash && one.spkiSha256 !== null)
  if (named.length === 0) throw new DerError('is one of an issuer whose certificate is not known.')
  const perKey = new Map(named.map(one => [one.spkiSha256, one]))
  for (const issuer of [...perKey.values()].slice(0, maxTried)) {
    const certificate = parsedOrNull(issuer.der)
    if (certificate && canSign(certificate, crl) && (await isCrlSignedBy(crl, certificate.x509.publicKey))) return issuer
  }
  throw new DerError('is not signed by the issuer of the certificate.')
}

function canSign({ facts: { keyUsage, subjectKeyId } }: Certificate, { authorityKeyId }: Crl): boolean {
  if (keyUsage?.includes('cRLSign') === false) return false
  return authorityKeyId === null || subjectKeyId === null || authorityKeyId === subjectKeyId
}

/** What a list says about a certificate: null if it isn’t revoked. */
type Verdict = { revokedAt: number; reason: string | null } | null

/**
 * Looks for a certificate in a list.
 * @param issuer the certificate of its issuer
 * @throws CrlUnusable if the list is not about certificates of this issuer
 */
async function verdictOf(
  hub: Hub,
  crl: CrlRow,
  { serialNumber, issuerHash, isCa }: Pick<Described, 'serialNumber' | 'issuerHash' | 'isCa'>,
  issuer: Pick<CrlIssuer, 'spkiSha256'>,
): Promise<Verdict> {
  if (crl.issuerHash !== issuerHash || crl.spkiSha256 !== issuer.spkiSha256)
    throw new CrlUnusable('The revocation list is not signed by the issuer of the certificate.')
  if (crl.scope !== 'all' && (crl.scope === 'ca') !== isCa)
    throw new CrlUnusable('The revocation list is not for certificates of this kind.')
  const entry = await entryOf(hub.read, crl, serialNumber)
  if (entry === undefined) throw new CrlUnusable('The revocation list was replaced in the meantime.')
  return entry
}

/** At most this many addresses of a certificate are tried. */
const maxAddresses = 3

/**
 * Looks for a certificate in the first of its lists that can be used.
 * @param urls where its lists are
 * @param listOf returns the list of an address; undefined if it is not stored and may not be downloaded
 * @returns null if no list may be used
 * @throws CrlUnusable if none of them can be used, about the first one
 */
export async function firstVerdict(
  hub: Hub,
  urls: readonly string[],
  listOf: (url: string) => Promise<CrlRow | undefined>,
  certificate: Parameters<typeof verdictOf>[2],
  issuer: Parameters<typeof verdictOf>[3],
): Promise<{ crl: CrlRow; verdict: Verdict } | null> {
  let failure: CrlUnusable | undefined
  for (const url of [...new Set(urls)].slice(0, maxAddresses)) {
    try {
      const crl = await listOf(url)
      if (crl) return { crl, verdict: await verdictOf(hub, crl, certificate, issuer) }
    } catch (error) {
      if (!(error instanceof CrlUnusable)) throw error
      failure ??= error
    }
  }
  if (failure) throw failure
  return null
}

const minute = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
