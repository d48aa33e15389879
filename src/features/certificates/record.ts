import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { countOf } from '../../access/plans'
import { sha256Hex } from '../../core/crypto'
import { forIds } from '../../core/db/id-list'
import { insertRows, skipExisting } from '../../core/db/insert-rows'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import { updateRows } from '../../core/db/update-rows'
import { newId } from '../../core/ids'
import { enqueue } from '../../core/jobs/queue'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { parsedOrNull, verifyChain, type Certificate, type VerificationBudget } from '../../core/x509/chain'
import { describe, type Described } from './describe'
import { idsOf, issuersOf, maxChain, rootsOf, verifyAgain } from './paths'
import { placeOf, type Place, type Presence } from './places'
import { refreshCertificates } from './refresh'
import { certificateNames, certificatePresences, certificates, type CertificateRow, type PresenceRow } from './tables'

/** A chain that was seen somewhere. */
export interface Sighting {
  /** The certificates in DER form, in the order in which they were seen; the one of the server first. */
  chain: readonly Uint8Array[]
  presence: Presence
}

type CompleteScope = Pick<Place, 'kind' | 'scopeId'> & {
  /** Places about which nothing is known: they keep their certificates. */
  unknown?: readonly string[]
}

/** Certificates of a workspace, including those of CAs. More are not recorded. */
const maxCertificates = 50_000
/** How old the time of the last sighting may be (ms), so that unchanged sightings write nothing. */
const seenEveryMs = 3_600_000

/**
 * Records which certificates were seen and where. Call it within a transaction, as a step of whatever found them:
 *
 *     const [id] = await recordCertificates(tx, workspaceId, [{ chain, presence: { kind: 'endpoint', endpointId, address, host, port } }], now)
 *
 * Unknown certificates are added to the inventory with their issuers. A place has one certificate at a time: the one that was there before
 * is no longer there. Repeating a call changes nothing. Parsing happens only for certificates that are new to the workspace.
 *
 * @param options.all the sightings are all those of this scope: its other places no longer have a certificate, except for the `unknown` ones.
 * @param now the time (ms UTC)
 * @returns the ID of the first certificate of each chain; null if it can’t be parsed or the workspace has too many
 */
export async function recordCertificates(
  tx: Tx,
  workspaceId: string,
  sightings: readonly Sighting[],
  now: number,
  { all = [] }: { all?: readonly CompleteScope[] } = {},
): Promise<(string | null)[]> {
  const ids = await saveCertificates(tx, workspaceId, sightings, now)
  const places = sightings.flatMap(({ presence }, at) => {
    const certificateId = ids[at]
    return certificateId ? [{ certificateId, data: presence, ...placeOf(presence) }] : []
  })
  const touched = await savePresences(tx, workspaceId, places, all, now)
  await refreshCertificates(tx, workspaceId, touched, now)
  return ids
}

/** Ends all presences of an endpoint, server, or managed certificate that no longer exists. @param now the time (ms UTC) */
export const endPresences = (tx: Tx, workspaceId: string, scope: readonly Pick<Place, 'kind' | 'scopeId'>[], now: number) =>
  recordCertificates(tx, workspaceId, [], now, { all: scope })

async function saveCertificates(
  tx: Tx,
  workspaceId: string,
  sightings: readonly Sighting[],
  now: number,
): Promise<(string | null)[]> {
  const leafs = new Map<string, readonly Uint8Array[]>()
  const firsts = sightings.map(({ chain: [first, ...rest] }) => {
    if (!first) return null
    const sha256 = sha256Hex(first)
    if ((leafs.get(sha256)?.length ?? 0) <= rest.length) leafs.set(sha256, [first, ...rest])
    return sha256
  })
  const known = await idsOf(tx, workspaceId, [...leafs.keys()])
  const unknown = [...leafs].filter(([sha256]) => !known.has(sha256))
  if (unknown.length > 0) {
    const context = await contextOf(tx, workspaceId, unknown.length)
    for (const [sha256, chain] of unknown) {
      const id = await addCertificate(tx, workspaceId, context, chain, now)
      if (id) known.set(sha256, id)
      if (isTurnOver()) await yieldToEventLoop()
    }
  }
  return firsts.map(sha256 => (sha256 && known.get(sha256)) ?? null)
}

/** What adding certificates depends on. */
interface Context {
  roots: Awaited<ReturnType<typeof rootsOf>>
  count: number
  budget: VerificationBudget
}

/** How many signatures are verified per new certificate and in addition. Their paths are short, and issuers are mostly the same. */
const verified = { each: 4, more: 20 }

async function contextOf(tx: Tx, workspaceId: string, added: number): Promise<Context> {
  const budget = { left: added * verified.each + verified.more }
  return { roots: await rootsOf(tx, workspaceId), count: await countOf(tx, 'certificate', workspaceId), budget }
}

/** Adds a certificate with its issuers. Returns its id; null if it can’t be parsed or there are too many. */
async function addCertificate(
  tx: Tx,
  workspaceId: string,
  context: Context,
  chain: readonly Uint8Array[],
  now: number,
): Promise<string | null> {
  const [leaf, ...issuers] = chain.slice(0, maxChain).map(parsedOrNull)
  const described = leaf && describe(leaf)
  if (!leaf || !described) return null
  const joined = await findIssuance(tx, workspaceId, described)
  if (joined !== null && described.isPrecertificate) return joined
  const sent: [Certificate, ...Certificate[]] = [leaf, ...issuers.flatMap(one => one ?? [])]
  const { roots, budget } = context
  const { trust, path } = await verifyChain(sent, { roots, known: await issuersOf(tx, workspaceId, sent), budget, now })
  const columns = path.map((one, at) => (at === 0 ? described : describe(one)))
  const readable = columns.slice(0, columns.includes(null) ? columns.indexOf(null) : columns.length) as Described[]
  const known = await idsOf(
    tx,
    workspaceId,
    readable.map(one => one.sha256),
  )
  const added = readable.filter(one => !known.has(one.sha256) && (joined === null || one !== described))
  if (context.count + added.length > maxCertificates) return joined
  context.count += added.length
  if (joined !== null) known.set(described.sha256, joined)
  const ids = readable.map(one => known.get(one.sha256) ?? newId('cert'))
  const rows = readable.flatMap((one, at) =>
    added.includes(one)
      ? [{ ...newRow(workspaceId, one, now), id: ids[at]!, isOnlyIssuer: at > 0, trust, chain: ids.slice(at + 1) }]
      : [],
  )
  await insertRows(tx, certificates, rows)
  if (joined !== null)
    await tx
      .update(certificates)
      .set({ ...described, trust, chain: ids.slice(1), crlDueAt: firstCheckOf(described, now) })
      .where(eq(certificates.id, joined))
  for (const row of rows) await saveNames(tx, row)
  const authorities = rows.flatMap(row => (row.isCa ? [row.subjectHash] : []))
  // Many certificates may have been waiting for an issuer. Their signatures are not verified while other writes wait.
  if (authorities.length > 0) await enqueue(tx, { clock: { now: () => now } }, [verifyAgain(workspaceId, authorities)])
  return ids[0]!
}

/**
 * A precertificate in a CT log and its certificate are one: the certificate takes over its row.
 * @returns the id of the existing row, which is complete if a precertificate is sought; null if there is none
 */
export async function findIssuance(
  tx: Tx,
  workspaceId: string,
  { tbsSha256, isPrecertificate }: Pick<Described, 'tbsSha256' | 'isPrecertificate'>,
): Promise<string | null> {
  const [other] = await prepared(tx, `same-tbs|${isPrecertificate}`, (handle: Tx) =>
    handle
      .select({ id: certificates.id })
      .from(certificates)
      .where(
        and(
          eq(certificates.workspaceId, sql.placeholder('workspaceId')),
          eq(certificates.tbsSha256, sql.placeholder('tbsSha256')),
          isPrecertificate ? undefined : eq(certificates.isPrecertificate, true),
        ),
      )
      .limit(1),
  ).execute({ workspaceId, tbsSha256 })
  return other?.id ?? null
}

/** When revocation is first checked. */
const firstCheckOf = ({ crlUrl }: Described, now: number): number | null => (crlUrl === null ? null : now)

const newRow = (workspaceId: string, described: Described, now: number) => ({
  ...described,
  ...{ workspaceId, version: 1, createdAt: now, updatedAt: now, tags: [], notes: '' },
  ...{
    revokedAt: null,
    revocationReason: null,
    crlDueAt: firstCheckOf(described, now),
    crlCheckedAt: null,
    crlError: null,
  },
  ...{ supersededBy: null, inUse: false, sources: [], presenceCount: 0 },
  ...{ lastSeenAt: now, autoRenewing: false, alarmLevel: null, alarmAt: null },
})

async function saveNames(tx: Tx, { id, workspaceId, contents }: Pick<CertificateRow, 'id' | 'workspaceId' | 'contents'>) {
  const names = [...new Set([...contents.dns_names, ...contents.ip_addresses])]
  for (let at = 0; at < names.length; at += 500) {
    const rows = names.slice(at, at + 500).map(name => ({ certificateId: id, workspaceId, name }))
    await insertRows(tx, certificateNames, rows, skipExisting)
    if (isTurnOver()) await yieldToEventLoop()
  }
}

type PlacedCertificate = Place & { certificateId: string; data: Presence }

/** Saves where certificates are, and ends what is no longer there. Returns the ids of certificates that something changed for. */
async function savePresences(
  tx: Tx,
  workspaceId: string,
  placed: readonly PlacedCertificate[],
  all: readonly CompleteScope[],
  now: number,
): Promise<Set<string>> {
  const wanted = new Map(placed.map(one => [idOf(one), one]))
  const unknown = new Map(all.map(one => [scopeKey(one), new Set(one.unknown)]))
  const scopes = new Map([...placed, ...all].map(one => [scopeKey(one), one]))
  const before: PresenceRow[] = []
  for (const { kind, scopeId } of scopes.values()) {
    // Uploads and CT have no scope: only the certificates in question matter.
    const isShared = scopeId === ''
    const ids = [...wanted].flatMap(([key, one]) => (one.kind === kind && one.scopeId === scopeId ? [key] : []))
    if (!isShared) before.push(...(await currentPresences(tx).execute({ workspaceId, kind, scopeId })))
    before.push(...(await presencesOf(tx, ids, isShared)))
  }
  const places = new Set(placed.map(placeKey))
  const touched = new Set<string>()
  const written: (typeof certificatePresences.$inferInsert)[] = []
  const changed: (Pick<PresenceRow, (typeof presenceColumns)[number]> & { id: string })[] = []
  const ended: { id: string; endedAt: number }[] = []
  const seen: { id: string; lastSeenAt: number }[] = []
  for (const row of before) {
    if (isTurnOver()) await yieldToEventLoop()
    const one = wanted.get(row.id)
    if (one) {
      wanted.delete(row.id)
      const { certificateId: _, ...values } = one
      const isSame = row.endedAt === null && sameJson(row.data, one.data)
      if (isSame) {
        if (now - row.lastSeenAt >= seenEveryMs) seen.push({ id: row.id, lastSeenAt: now })
        continue
      }
      changed.push({ id: row.id, ...values, lastSeenAt: now, endedAt: null })
      touched.add(row.certificateId)
    } else if (
      row.endedAt === null &&
      row.scopeId !== '' &&
      (places.has(placeKey(row)) || unknown.get(scopeKey(row))?.has(row.place) === false)
    ) {
      ended.push({ id: row.id, endedAt: now })
      touched.add(row.certificateId)
    }
  }
  for (const [id, one] of wanted) {
    written.push({ id, workspaceId, ...one, firstSeenAt: now, lastSeenAt: now, endedAt: null })
    touched.add(one.certificateId)
  }
  await updateRows(tx, certificatePresences, { name: 'changed', set: presenceColumns }, changed)
  await updateRows(tx, certificatePresences, { name: 'ended', set: ['endedAt'] }, ended)
  await updateRows(tx, certificatePresences, { name: 'seen', set: ['lastSeenAt'] }, seen)
  await insertRows(tx, certificatePresences, written)
  return touched
}

const presenceColumns = ['kind', 'scopeId', 'place', 'label', 'isUse', 'data', 'lastSeenAt', 'endedAt'] as const

/** The presences of a scope that have not ended. */
const currentPresences = (tx: Tx) =>
  prepared(tx, 'current-presences', (handle: Tx) => {
    const { workspaceId, kind, scopeId, endedAt } = certificatePresences
    return handle
      .select()
      .from(certificatePresences)
      .where(
        and(
          eq(workspaceId, sql.placeholder('workspaceId')),
          eq(kind, sql.placeholder('kind')),
          eq(scopeId, sql.placeholder('scopeId')),
          isNull(endedAt),
        ),
      )
  })

/** @param withCurrent also those that have not ended */
const presencesOf = (tx: Tx, ids: readonly string[], withCurrent: boolean): Promise<PresenceRow[]> =>
  forIds(ids, (size, list, values) =>
    prepared(tx, `presences|${size}|${withCurrent}`, (handle: Tx) => {
      const { id, endedAt } = certificatePresences
      return handle
        .select()
        .from(certificatePresences)
        .where(and(sql`${id} in ${list}`, withCurrent ? undefined : isNotNull(endedAt)))
    }).execute(values),
  )

const scopeKey = ({ kind, scopeId }: Pick<Place, 'kind' | 'scopeId'>): string => `${kind} ${scopeId}`
const placeKey = (one: Pick<Place, 'kind' | 'scopeId' | 'place'>): string => `${scopeKey(one)} ${one.place}`
const idOf = (one: PlacedCertificate): string => `${one.certificateId} ${sha256Hex(placeKey(one)).slice(0, 32)}`
const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
