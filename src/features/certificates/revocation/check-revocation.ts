import { and, eq, inArray, isNotNull, isNull, lte, or } from 'drizzle-orm'
import { workspacePolicy } from '../../../access/network-policy'
import { workspaces } from '../../../access/tables'
import { record } from '../../../core/change'
import { addChangeHint } from '../../../core/change-hints'
import { sha256Hex } from '../../../core/crypto'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { gapsJobFor } from '../gaps-job'
import { refreshCertificates } from '../refresh'
import { certificates, type CertificateRow, type CrlRow } from '../tables'
import { currentCrl, firstVerdict } from './current-crl'
import { CrlUnusable } from './download-crl'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const perRun = 500

/** Only certificates that matter: in use, or the issuers of others. */
const isRelevant = or(certificates.inUse, certificates.isOnlyIssuer)

/** Starts the checks that are due: a job for each workspace and revocation list. Several hubs can run it at once. */
export async function startRevocationChecks(hub: Hub): Promise<void> {
  const { workspaceId, crlUrl, crlDueAt } = certificates
  const due = await hub.read
    .selectDistinct({ workspaceId, url: crlUrl })
    .from(certificates)
    .innerJoin(workspaces, eq(workspaces.id, workspaceId))
    .where(and(lte(crlDueAt, hub.clock.now()), isNotNull(crlDueAt), isRelevant, isNull(workspaces.suspendedAt)))
    .limit(perRun)
  if (due.length === 0) return
  const jobs = due.map(one => ({
    kind: checkRevocationJob.kind,
    payload: { workspace_id: one.workspaceId, url: one.url },
    lane: `${one.workspaceId}/${URL.parse(one.url!)?.hostname ?? ''}`,
    uniqueKey: `${one.workspaceId} ${sha256Hex(one.url!)}`,
  }))
  await record(hub, async () => ({ result: undefined, jobs }))
}

/** Checks the certificates of a workspace that name a revocation list. */
export const checkRevocationJob: JobKind<{ workspace_id: string; url: string }> = {
  kind: 'certificates.crl',
  concurrency: 4,
  lanes: { ...sequentialLanes, maxPerGroup: 2 },
  leaseMs: 600_000,
  retryAfter: attempts => (attempts < 5 ? 60_000 * attempts : null),
  async run(hub, { payload: { workspace_id: workspaceId, url } }) {
    const rows = await dueRows(hub, workspaceId, url)
    const checks = await checked(hub, workspaceId, url, rows)
    return async tx => {
      const jobs = (await saveChecks(tx, workspaceId, checks, hub.clock.now())) ? [gapsJobFor(workspaceId)] : []
      return { result: undefined, jobs }
    }
  },
}

const columns = {
  id: certificates.id,
  chain: certificates.chain,
  serialNumber: certificates.serialNumber,
  issuerHash: certificates.issuerHash,
  isCa: certificates.isCa,
  notAfter: certificates.notAfter,
  revokedAt: certificates.revokedAt,
  revocationReason: certificates.revocationReason,
  crlCheckedAt: certificates.crlCheckedAt,
}
type DueRow = Pick<CertificateRow, keyof typeof columns>

const dueRows = (hub: Hub, workspaceId: string, url: string): Promise<DueRow[]> => {
  const { workspaceId: workspace, crlUrl, crlDueAt } = certificates
  return hub.read
    .select(columns)
    .from(certificates)
    .where(and(eq(workspace, workspaceId), eq(crlUrl, url), lte(crlDueAt, hub.clock.now()), isNotNull(crlDueAt), isRelevant))
    .limit(perRun) as Promise<DueRow[]>
}

type Check = Pick<CertificateRow, 'id' | 'revokedAt' | 'revocationReason' | 'crlDueAt' | 'crlCheckedAt' | 'crlError'> & {
  hasChanged: boolean
}

const hold = 'certificate_hold'
/** At most this many lists are downloaded in a run, the first included. */
const maxLists = 4
const noIssuer = 'The issuer of the certificate is not known, so its revocation list can’t be verified.'

/**
 * Looks for certificates in their revocation list. What fails is tried again after an hour; without an issuer, after a day or as soon as it
 * is known (paths.ts).
 */
async function checked(hub: Hub, workspaceId: string, url: string, rows: readonly DueRow[]): Promise<Check[]> {
  const now = hub.clock.now()
  // Revocation is final, except for certificates on hold.
  const isOpen = (row: DueRow) => row.notAfter > now && (row.revokedAt === null || row.revocationReason === hold)
  const open = rows.filter(isOpen)
  const checks = rows.filter(row => !isOpen(row)).map(row => unchanged(row, { crlDueAt: null, crlError: null }))
  if (open.length === 0) return checks
  const issuers = await issuersById(hub, workspaceId, open)
  const issuerOf = (row: DueRow) => issuers.get(row.chain[0] ?? '')
  for (const row of open) if (!issuerOf(row)) checks.push(unchanged(row, { crlDueAt: now + dayMs, crlError: noIssuer }))
  const verifiable = open.filter(issuerOf)
  if (verifiable.length === 0) return checks
  const policy = await workspacePolicy(hub.read, workspaceId, false)
  const use = { workspaceId, policy, issuers: [...issuers.values()] }
  const lists = new Map<string, Promise<CrlRow>>()
  const listOf = async (address: string) => {
    if (!lists.has(address) && lists.size >= maxLists) throw new CrlUnusable('Too many other revocation lists were tried.')
    const list = lists.get(address) ?? currentCrl(hub, address, use)
    lists.set(address, list)
    return await list
  }
  for (const row of verifiable) {
    const issuer = issuerOf(row)!
    try {
      const { crl, verdict } = (await firstVerdict(hub, [url], listOf, row, issuer).catch(async error => {
        if (!(error instanceof CrlUnusable)) throw error
        return await firstVerdict(hub, [url, ...(await urlsOf(hub, row.id))], listOf, row, issuer)
      }))!
      const { revokedAt = null, reason = null } = verdict ?? {}
      checks.push({
        ...{ id: row.id, revokedAt, revocationReason: reason, crlCheckedAt: now, crlError: null },
        crlDueAt: verdict && reason !== hold ? null : crl.keptUntil,
        hasChanged: row.revokedAt !== revokedAt || row.revocationReason !== reason,
      })
    } catch (error) {
      if (!(error instanceof CrlUnusable)) throw error
      checks.push(unchanged(row, { crlDueAt: now + hourMs, crlError: error.message }))
    }
    if (isTurnOver()) await yieldToEventLoop()
  }
  return checks
}

/** Where the lists of a certificate are. Read only when they are needed: the same column can contain 10,000 names. */
async function urlsOf(hub: Hub, id: string): Promise<string[]> {
  const { contents } = certificates
  const [row] = await hub.read.select({ contents }).from(certificates).where(eq(certificates.id, id))
  return row?.contents.crl_urls ?? []
}

const unchanged = (
  { id, revokedAt, revocationReason, crlCheckedAt }: DueRow,
  more: Pick<Check, 'crlDueAt' | 'crlError'>,
): Check => ({ id, revokedAt, revocationReason, crlCheckedAt, ...more, hasChanged: false })

async function issuersById(hub: Hub, workspaceId: string, rows: readonly DueRow[]) {
  const ids = [...new Set(rows.flatMap(row => row.chain[0] ?? []))]
  const { id, workspaceId: workspace, der, subjectHash, spkiSha256 } = certificates
  const found = await hub.read
    .select({ id, der, subjectHash, spkiSha256 })
    .from(certificates)
    .where(and(eq(workspace, workspaceId), inArray(id, ids)))
  return new Map(found.map(one => [one.id, one]))
}

/** Stores what was found. @returns whether a certificate was revoked, or is no longer on hold */
async function saveChecks(tx: Tx, workspaceId: string, checks: readonly Check[], now: number): Promise<boolean> {
  await updateRows(tx, certificates, { name: 'crl', set: ['crlDueAt', 'crlCheckedAt', 'crlError'] }, checks)
  const revocations = checks.filter(one => one.hasChanged)
  if (revocations.length === 0) return false
  // Not for the others: they may have been revoked here in the meantime.
  await updateRows(tx, certificates, { name: 'revocation', set: ['revokedAt', 'revocationReason'] }, revocations)
  const changed = revocations.map(one => one.id)
  await refreshCertificates(tx, workspaceId, new Set(changed), now)
  for (const id of changed)
    addChangeHint(tx, {
      ...{ workspaceId, action: 'certificates.certificate.revocation', type: 'certificate', id },
      parentId: null,
    })
  return true
}
