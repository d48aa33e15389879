import { Type } from '@sinclair/typebox'
import { and, eq, inArray, ne, sql } from 'drizzle-orm'
import { refuseOverLimit } from '../../access/plans'
import { StreamedResponse } from '../../api/streamed-response'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import {
  containsFilter,
  flagFilter,
  idsFilter,
  searchFilter,
  textFilter,
  timeFilters,
  wordsFilter,
} from '../../core/list-filters'
import type { Filter } from '../../core/listing'
import { patchColumns } from '../../core/members'
import { conflict } from '../../core/problem'
import { changedRow, findRow, lockRow, removeRow, saveRow, targetOf } from '../../core/rows'
import { Tag, Words } from '../../core/shapes'
import { streamInSlices } from '../../core/time-slices'
import type { Certificate } from '../../core/x509/chain'
import { rowsOf } from '../../registry'
import { gapsJobFor, settleMs } from './gaps-job'
import { alarmLevels } from './life'
import { certificateSources } from './places'
import { pemOf, pemType, readUpload } from './pem'
import { idsOf } from './paths'
import { findIssuance, recordCertificates } from './record'
import { refreshRemaining } from './refresh'
import {
  certificateMembers,
  certificateStatuses,
  trusts,
  type CertificatePatch,
  type CertificateView,
  type ChainFormat,
} from './shapes'
import { levelColumn, statusColumn } from './status'
import { certificateNames, certificatePresences, certificates, type CertificateRow } from './tables'
import { certificateViews } from './view'

const certificateRows = rowsOf('certificate', certificates, { label: 'commonName' })

/** Certificates that cover a name, or its parent with a wildcard (RFC 9525 section 6.3). */
const nameFilter: Filter = {
  schema: Type.String({
    minLength: 1,
    maxLength: 253,
    description: 'Only certificates that are valid for this DNS name or IP address, also by a wildcard.',
  }),
  where: (value, bind) => {
    const name = (value as string).toLowerCase()
    const wildcard = name.replace(/^[^.]+/, '*')
    const { certificateId, name: column } = certificateNames
    // Addresses have no wildcards; `*.0.2.1` is the name of no certificate.
    return sql`${certificates.id} in (select ${certificateId} from ${certificateNames}
      where ${certificateNames.workspaceId} = ${certificates.workspaceId} and ${column} in (${bind(name)}, ${bind(wildcard)}))`
  },
}

/** Certificates that are somewhere now. */
const placeFilter = (kinds: readonly string[], description: string): Filter => ({
  schema: Type.String({ minLength: 1, maxLength: 100, description }),
  where: (value, bind) => {
    const { certificateId, workspaceId, kind, scopeId, endedAt } = certificatePresences
    return sql`${certificates.id} in (select ${certificateId} from ${certificatePresences}
      where ${workspaceId} = ${certificates.workspaceId} and ${kind} in (${sql.join(kinds.map(bind), sql`, `)})
      and ${scopeId} = ${bind(value)} and ${endedAt} is null)`
  },
})

const oneOf = (words: readonly string[], description: string) =>
  Type.Array(Words(words), { minItems: 1, maxItems: words.length, description })

export const certificateListing = listingOf('certificates', certificates, {
  condition: eq(certificates.isOnlyIssuer, false),
  filters: {
    q: searchFilter(
      [certificates.commonName, certificates.subject, certificates.issuer],
      'Only certificates whose common name, subject, or issuer contains all words of this text.',
    ),
    name: nameFilter,
    status: {
      schema: oneOf(certificateStatuses, 'Only certificates with these statuses.'),
      where: (value, bind, now) =>
        sql`${statusColumn(bind(now))} in (${sql.join([...new Set(value as string[])].sort().map(bind), sql`, `)})`,
      variant: value => String(new Set(value as string[]).size),
    },
    level: {
      schema: oneOf(alarmLevels, 'Only certificates with these levels.'),
      where: (value, bind, now) =>
        sql`${levelColumn(bind(now))} in (${sql.join([...new Set(value as string[])].sort().map(bind), sql`, `)})`,
      variant: value => String(new Set(value as string[]).size),
    },
    trust: wordsFilter(certificates.trust, trusts, 'Only certificates with this trust.'),
    source: containsFilter(
      certificates.sources,
      Words(certificateSources, { description: 'Only certificates that are reported by this source.' }),
    ),
    in_use: flagFilter(certificates.inUse, 'True for certificates in use, false for the others.'),
    issuer: searchFilter([certificates.issuer], 'Only certificates whose issuer contains all words of this text.'),
    key_type: textFilter(certificates.keyType, 'Only certificates with this type of key, such as `rsa` or `ec`.', {
      maxLength: 20,
    }),
    sha256: textFilter(certificates.sha256, 'Only the certificate with this SHA-256 fingerprint, in lowercase hexadecimal.'),
    serial_number: textFilter(certificates.serialNumber, 'Only certificates with this serial number, in lowercase hexadecimal.'),
    endpoint_id: placeFilter(['endpoint'], 'Only certificates that this TLS endpoint presents.'),
    server_id: placeFilter(['file', 'served'], 'Only certificates on this server.'),
    lineage_id: textFilter(certificates.lineageId, 'Only certificates of this lineage.'),
    tag: containsFilter(certificates.tags, Type.String({ ...Tag, description: 'Only certificates with this tag.' })),
    ids: idsFilter(certificates.id),
    ...timeFilters('not_after', certificates.notAfter),
  },
  sorts: ['not_after', 'created_at', 'common_name'],
})

export async function listCertificates(ctx: Ctx, query: Record<string, unknown>) {
  const { data, pagination } = await listPage(ctx, certificateListing, query, (row: CertificateRow) => row)
  return { data: await certificateViews(ctx.hub, ctx.hub.read, data), pagination }
}

const viewOf = async (ctx: Ctx, row: CertificateRow, read: Reader = ctx.hub.read): Promise<CertificateView> =>
  (await certificateViews(ctx.hub, read, [row], 'one'))[0]!

/** @throws Problem 404 */
export const getCertificate = async (ctx: Ctx, id: string): Promise<CertificateView> =>
  await viewOf(ctx, await findRow(ctx.hub.read, ctx, certificateRows, id))

/** What uploads returned that were known before: the API answers with another status. */
const known = new WeakSet<object>()
export const wasKnown = (result: unknown): boolean => known.has(result as object)

/**
 * Adds a certificate with its chain, or notes that a known one was uploaded or is in a CT log.
 * @throws Problem 409 if there are too many, 422
 */
export async function uploadCertificate(ctx: Ctx, bytes: Uint8Array, source: 'upload' | 'ct'): Promise<CertificateView> {
  const chain = readUpload(bytes)
  return await change(ctx, 'certificates.certificate.create', async tx => {
    const isKnown = await isInInventory(tx, ctx, chain[0])
    if (!isKnown) await refuseOverLimit(tx, ctx, 'certificate')
    const sighting = { chain: chain.map(one => one.der), presence: { kind: source } }
    const [id] = await recordCertificates(tx, ctx.workspaceId, [sighting], ctx.hub.clock.now())
    if (!id) throw conflict('The workspace has too many certificates to add this one with its issuers.')
    const row = await findRow(tx, ctx, certificateRows, id)
    const result = await viewOf(ctx, row, tx)
    if (isKnown) known.add(result)
    const jobs = isKnown ? [] : [gapsJobFor(ctx.workspaceId, ctx.hub.clock.now() + settleMs)]
    return { result, target: targetOf(certificateRows, row), before: null, after: result, unchanged: isKnown, jobs }
  })
}

async function isInInventory(tx: Tx, { workspaceId }: Ctx, { sha256, facts }: Certificate): Promise<boolean> {
  // One at a time, because SQLite would not use an index for both.
  const known = await idsOf(tx, workspaceId, [sha256])
  return known.size > 0 || (await findIssuance(tx, workspaceId, facts)) !== null
}

/** @throws Problem 404, 412 */
export const updateCertificate = (ctx: Ctx, id: string, patch: CertificatePatch): Promise<CertificateView> =>
  change(ctx, 'certificates.certificate.update', async tx => {
    const before = await lockRow(tx, ctx, certificateRows, id)
    const after = await saveRow(tx, ctx, certificateRows, before, patchColumns(certificateMembers, patch))
    return await changedRow(certificateRows, before, after, row => viewOf(ctx, row, tx))
  })

/**
 * Deletes a certificate from the inventory. It is added again if it is seen again.
 * @throws Problem 404, 412; 409 while it is in use somewhere, or is the issuer of others
 */
export const deleteCertificate = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'certificates.certificate.delete', async tx => {
    const row = await lockRow(tx, ctx, certificateRows, id)
    const before = await viewOf(ctx, row, tx)
    const place = before.presences.find(one => one.ended_at === null && one.kind !== 'upload' && one.kind !== 'ct')
    if (place) throw conflict('The certificate is still in use. You can delete it when it isn’t anywhere anymore.')
    const { workspaceId, issuerHash } = certificates
    const [issued] = await tx
      .select({ id: certificates.id })
      .from(certificates)
      .where(and(eq(workspaceId, row.workspaceId), eq(issuerHash, row.subjectHash), ne(certificates.id, id)))
      .limit(1)
    if (row.isCa && issued) throw conflict(`The certificate is the issuer of others, such as ${issued.id}. Delete those first.`)
    await removeRow(tx, certificateRows, row)
    // An older one that it replaced may be in use now.
    await refreshRemaining(tx, row.workspaceId, row.lineageId, ctx.hub.clock.now())
    return { result: undefined, target: targetOf(certificateRows, row), before }
  })

/** The certificate as PEM, with its issuers as far as they are known. @throws Problem 404 */
export async function certificateChain(ctx: Ctx, id: string, format: ChainFormat = 'chain'): Promise<StreamedResponse> {
  const { read } = ctx.hub
  const row = await findRow(read, ctx, certificateRows, id)
  const issuers = new Map(
    (await read.select().from(certificates).where(inArray(certificates.id, row.chain))).map(one => [one.id, one]),
  )
  const path = [row, ...row.chain.flatMap(one => issuers.get(one) ?? [])]
  // A root ends the path with its own name.
  const end = path.at(-1)!
  const hasRoot = path.length > 1 && end.subjectHash === end.issuerHash
  const wanted = format === 'leaf' ? [row] : format === 'chain' && hasRoot ? path.slice(0, -1) : path
  const pem = wanted.map(one => pemOf(one.der))
  return new StreamedResponse(pemType, `${id}.pem`, streamInSlices(pem))
}
