import { and, asc, eq, gt, isNull, ne } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { isTurnOver, runInSlices, yieldToEventLoop } from '../../../core/time-slices'
import { namesInZones } from '../../dns/records/certificate-names'
import { findingsOf } from '../findings'
import type { Presence } from '../places'
import { certificatePresences, certificates, type CertificateRow } from '../tables'
import type { GapSources, KnownCertificate } from './gaps'
import { expectedNames } from './names'
import { settingsOf } from './settings'

const rowsPerPage = 200

/** Reads everything that the gaps of a workspace depend on, page by page. */
export async function gapSourcesOf(read: Reader, workspaceId: string): Promise<GapSources> {
  const settings = await settingsOf(read, workspaceId)
  const { zones, records, caa } = await namesInZones(read, workspaceId)
  const places = await placesOf(read, workspaceId)
  const expected = await runInSlices(
    expectedNames({
      ...settings,
      zones,
      records,
      monitors: [],
      agents: places.served.flatMap(one => one.servername ?? []),
    }),
  )
  return {
    expected,
    zones,
    caa,
    recorded: new Set(records.map(one => one.name)),
    certificates: await certificatesOf(read, workspaceId, places.data),
    ...{ files: places.files, served: places.served, endpoints: places.endpoints },
  }
}

/** Presences of a certificate in files, which its findings depend on. */
type FileData = ReadonlyMap<string, readonly { data: Presence }[]>
type Places = Pick<GapSources, 'files' | 'served' | 'endpoints'> & { data: FileData }

async function placesOf(read: Reader, workspaceId: string): Promise<Places> {
  const { id, certificateId, data, firstSeenAt, lastSeenAt, endedAt } = certificatePresences
  const files: Places['files'][number][] = []
  const served: Places['served'][number][] = []
  const fileData = new Map<string, { data: Presence }[]>()
  const endpoints = new Map<string, Endpoint>()
  for (let last = ''; ;) {
    const rows = await read
      .select({ id, certificateId, data, firstSeenAt, lastSeenAt })
      .from(certificatePresences)
      .where(and(eq(certificatePresences.workspaceId, workspaceId), isNull(endedAt), gt(id, last)))
      .orderBy(asc(id))
      .limit(rowsPerPage)
    for (const row of rows) {
      const { data: one } = row
      if (one.kind === 'file') {
        const { serverId, serverName, path, references } = one
        const { certificateId: certificate, firstSeenAt: since } = row
        files.push({ certificateId: certificate, serverId, serverName, path, isUsed: references.length > 0, firstSeenAt: since })
        fileData.set(certificate, [...(fileData.get(certificate) ?? []), { data: one }])
      } else if (one.kind === 'served') served.push({ ...one, certificateId: row.certificateId })
      else if (one.kind === 'endpoint') addEndpoint(endpoints, one, row)
    }
    if (rows.length < rowsPerPage) return { files, served, endpoints: [...endpoints.values()], data: fileData }
    last = rows.at(-1)!.id
    if (isTurnOver()) await yieldToEventLoop()
  }
}

type Endpoint = GapSources['endpoints'][number]

function addEndpoint(
  endpoints: Map<string, Endpoint>,
  { endpointId, host, port, address }: Presence & { kind: 'endpoint' },
  { certificateId, lastSeenAt }: { certificateId: string; lastSeenAt: number },
): void {
  const before = endpoints.get(endpointId)
  endpoints.set(endpointId, {
    ...{ id: endpointId, host, port, servername: null, isChainIncomplete: false },
    scannedAt: Math.max(before?.scannedAt ?? 0, lastSeenAt),
    addresses: [...(before?.addresses ?? []), { address, certificateId, isOpen: true }],
  })
}

const columns = {
  id: certificates.id,
  commonName: certificates.commonName,
  contents: certificates.contents,
  issuer: certificates.issuer,
  keyType: certificates.keyType,
  keyBits: certificates.keyBits,
  signatureAlgorithm: certificates.signatureAlgorithm,
  isCa: certificates.isCa,
  isOnlyIssuer: certificates.isOnlyIssuer,
  notBefore: certificates.notBefore,
  notAfter: certificates.notAfter,
  trust: certificates.trust,
  lineageId: certificates.lineageId,
  revokedAt: certificates.revokedAt,
  supersededBy: certificates.supersededBy,
  inUse: certificates.inUse,
  autoRenewing: certificates.autoRenewing,
  renewalDueAt: certificates.renewalDueAt,
  sources: certificates.sources,
}

async function certificatesOf(read: Reader, workspaceId: string, files: FileData): Promise<Map<string, KnownCertificate>> {
  const found = new Map<string, KnownCertificate>()
  for (let last = ''; ;) {
    const rows = await read
      .select(columns)
      .from(certificates)
      .where(
        and(
          eq(certificates.workspaceId, workspaceId),
          eq(certificates.isOnlyIssuer, false),
          ne(certificates.presenceCount, 0),
          gt(certificates.id, last),
        ),
      )
      .orderBy(asc(certificates.id))
      .limit(rowsPerPage)
    for (const row of rows) found.set(row.id, known(row, files.get(row.id) ?? []))
    if (rows.length < rowsPerPage) return found
    last = rows.at(-1)!.id
    if (isTurnOver()) await yieldToEventLoop()
  }
}

function known(
  { contents, ...row }: Pick<CertificateRow, keyof typeof columns>,
  files: readonly { data: Presence }[],
): KnownCertificate {
  const findings = findingsOf({ ...row, contents }, files, 1)
  return { ...row, names: new Set(contents.dns_names.map(name => name.toLowerCase())), findings }
}
