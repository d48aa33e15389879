import { and, eq, inArray, isNull, ne } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { adapterContextOf } from '../../../adapters/accounts/context'
import { AdapterError } from '../../../adapters/failure'
import { record } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import type { NoticeDraft } from '../../../core/notices'
import { DecryptionFailed } from '../../../core/secrets'
import { gapsJobFor, settleMs } from '../../certificates/gaps-job'
import { recordCertificates } from '../../certificates/record'
import { activeZones } from '../../dns/records/certificate-names'
import { certificateSettings, ctSearches, type CtSearchRow } from '../tables'
import { readCtPage, type CtSource } from './sources'
import { ctTokenPlace } from './token'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Pages that a job reads. It continues after a minute, so that other zones get their turn. */
const pagesPerRun = 10
const zonesPerRun = 500
/** Certificates per transaction. */
const perChange = 20

/** Starts the searches that are due: once an hour for each active zone. Several hubs can run it at once. */
export async function startCtSearches(hub: Hub): Promise<void> {
  const { workspaceId, ctKind } = certificateSettings
  const rows = await hub.read
    .select({ workspaceId })
    .from(certificateSettings)
    .innerJoin(workspaces, eq(workspaces.id, workspaceId))
    .where(and(ne(ctKind, 'off'), isNull(workspaces.suspendedAt)))
  for (const row of rows) await startOf(hub, row.workspaceId)
}

async function startOf(hub: Hub, workspaceId: string): Promise<void> {
  // No public CA issues certificates for reverse names.
  const zones = (await activeZones(hub.read, workspaceId)).filter(zone => !zone.name.endsWith('.arpa'))
  const known = await hub.read
    .select({ id: ctSearches.id, dueAt: ctSearches.dueAt })
    .from(ctSearches)
    .where(eq(ctSearches.workspaceId, workspaceId))
  const dueAt = new Map(known.map(one => [one.id, one.dueAt]))
  const ids = new Set(zones.map(zone => zone.id))
  const gone = known.flatMap(one => (ids.has(one.id) ? [] : [one.id])).slice(0, zonesPerRun)
  const due = zones.filter(zone => (dueAt.get(zone.id) ?? 0) <= hub.clock.now()).slice(0, zonesPerRun)
  if (gone.length === 0 && due.length === 0) return
  await record(hub, async tx => {
    if (gone.length > 0) await tx.delete(ctSearches).where(inArray(ctSearches.id, gone))
    const jobs = due.map(zone => ({
      kind: searchCtJob.kind,
      payload: { workspace_id: workspaceId, zone_id: zone.id, zone: zone.name },
      lane: `${workspaceId}/ct`,
      uniqueKey: zone.id,
    }))
    return { result: undefined, jobs }
  })
}

/** Searches for the new certificates of a zone in CT logs. Continues where the last run ended, also if that was killed. */
export const searchCtJob: JobKind<{ workspace_id: string; zone_id: string; zone: string }> = {
  kind: 'certificates.ct',
  concurrency: 4,
  lanes: sequentialLanes,
  leaseMs: 3_600_000,
  retryAfter: attempts => (attempts < 5 ? minuteMs * attempts : null),
  async run(hub, { payload: { workspace_id: workspaceId, zone_id: id, zone } }) {
    const state = await stateOf(hub, workspaceId, id)
    if (!state) return undefined
    const { settings, search } = state
    try {
      const source = await sourceOf(hub, settings)
      const context = await adapterContextOf(hub, workspaceId, { ct: source.kind })
      let { cursor } = search
      for (let pages = 0; pages < pagesPerRun; pages++) {
        const page = await readCtPage(context, source, zone, cursor)
        const { certificates } = page
        for (let at = 0; at < certificates.length; at += perChange) {
          const isEnd = at + perChange >= certificates.length
          const some = certificates.slice(at, at + perChange)
          await record(hub, tx => savePage(tx, hub, search, settings, some, isEnd ? page.cursor : cursor))
        }
        cursor = page.cursor
        if (page.isLast) {
          const now = hub.clock.now()
          const wait = Math.max(hourMs, page.retryAfterMs ?? 0)
          return tx => saveState(tx, settings, { ...search, cursor, dueAt: now + wait, checkedAt: now, failures: 0, error: null })
        }
      }
      return tx => saveState(tx, settings, { ...search, cursor, dueAt: hub.clock.now() + minuteMs, failures: 0, error: null })
    } catch (error) {
      if (!(error instanceof AdapterError || error instanceof DecryptionFailed)) throw error
      return async tx => await saveFailure(tx, hub, settings, search, error)
    }
  },
}

type SettingsRow = typeof certificateSettings.$inferSelect

async function stateOf(
  hub: Hub,
  workspaceId: string,
  id: string,
): Promise<{ settings: SettingsRow; search: CtSearchRow } | null> {
  const [settings] = await hub.read.select().from(certificateSettings).where(eq(certificateSettings.workspaceId, workspaceId))
  if (!settings || settings.ctKind === 'off') return null
  const [row] = await hub.read.select().from(ctSearches).where(eq(ctSearches.id, id))
  if (row && row.dueAt > hub.clock.now()) return null
  return { settings, search: row ?? { id, workspaceId, cursor: '', dueAt: 0, checkedAt: null, failures: 0, error: null } }
}

/** @throws DecryptionFailed */
async function sourceOf(hub: Hub, { workspaceId, ctKind, ctUrl, ctTokenSealed }: SettingsRow): Promise<CtSource> {
  // crt.sh has no keys.
  const token =
    ctTokenSealed === null || ctKind !== 'certspotter' ? null : await hub.keys.open(ctTokenPlace(workspaceId), ctTokenSealed)
  return { kind: ctKind as CtSource['kind'], url: ctUrl, token }
}

async function savePage(
  tx: Tx,
  hub: Hub,
  search: CtSearchRow,
  settings: SettingsRow,
  certificates: readonly Uint8Array[],
  cursor: string,
) {
  const { workspaceId } = search
  const now = hub.clock.now()
  const sightings = certificates.map(der => ({ chain: [der], presence: { kind: 'ct' } as const }))
  await recordCertificates(tx, workspaceId, sightings, now)
  await saveState(tx, settings, { ...search, cursor })
  return { result: undefined, jobs: [gapsJobFor(workspaceId, now + settleMs)] }
}

/** Stores how far a search is, unless it was started for other settings. */
async function saveState(tx: Tx, { workspaceId, ctKind, ctUrl }: SettingsRow, search: CtSearchRow) {
  const [now] = await tx.select().from(certificateSettings).where(eq(certificateSettings.workspaceId, workspaceId))
  if (now?.ctKind !== ctKind || now.ctUrl !== ctUrl) return { result: undefined }
  const { cursor, dueAt, checkedAt, failures, error } = search
  await tx
    .insert(ctSearches)
    .values(search)
    .onConflictDoUpdate({ target: ctSearches.id, set: { cursor, dueAt, checkedAt, failures, error } })
  return { result: undefined }
}

/** Wait after a failure: what the API asks for, a rejected key longer than others. */
async function saveFailure(tx: Tx, hub: Hub, settings: SettingsRow, search: CtSearchRow, error: AdapterError | DecryptionFailed) {
  const isRejected = error instanceof AdapterError && error.failure === 'unauthorized'
  const retryAfterMs = error instanceof AdapterError ? (error.retryAfterMs ?? 0) : 0
  const dueAt = hub.clock.now() + Math.max(isRejected ? 6 * hourMs : hourMs, retryAfterMs)
  // Pages that were read before it are not read again.
  const [row] = await tx.select().from(ctSearches).where(eq(ctSearches.id, search.id))
  const failures = search.failures + 1
  await saveState(tx, settings, { ...(row ?? search), dueAt, failures, error: error.message })
  const isNoticed = failures === (isRejected ? 1 : failuresBeforeNotice)
  return { result: undefined, notices: isNoticed ? [noticeOf(settings, error)] : [] }
}

const failuresBeforeNotice = 3

const noticeOf = ({ workspaceId, ctKind }: SettingsRow, { message }: Error): NoticeDraft => ({
  ...{ workspaceId, kind: 'certificate.ct_failing', resource: null, dedupKey: ctKind },
  text: `Certificates in Certificate Transparency logs can’t be found. ${message}`,
  details: { kind: ctKind, error: message },
})
