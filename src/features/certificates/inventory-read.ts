import { and, asc, eq, gt, isNotNull, isNull, ne } from 'drizzle-orm'
import { batchesOf } from '../../core/db/rows-in-batches'
import type { Reader } from '../../core/db/transaction'
import { findingsOf } from './findings'
import type { CertificateFile, EndpointCertificate, Inventory, KnownCertificate, ServedCertificate } from './known'
import type { Presence } from './places'
import { certificatePresences, certificates, type CertificateRow } from './tables'

const rowsPerPage = 200

/** Reads the certificates of a workspace that are somewhere, and where they are, page by page. */
export async function inventoryOf(read: Reader, workspaceId: string): Promise<Inventory> {
  const { data, ...places } = await placesOf(read, workspaceId)
  return { ...places, certificates: await certificatesOf(read, workspaceId, data) }
}

/** The workspaces that have certificates. */
export const workspacesWithCertificates = async (read: Reader): Promise<string[]> =>
  (await read.selectDistinct({ id: certificates.workspaceId }).from(certificates)).map(row => row.id)

/** Presences of a certificate in files, which its findings depend on. */
type FileData = ReadonlyMap<string, readonly { data: Presence }[]>
type Places = Pick<Inventory, 'files' | 'served' | 'endpoints'> & { data: FileData }

async function placesOf(read: Reader, workspaceId: string): Promise<Places> {
  const { id, data, firstSeenAt, lastSeenAt, endedAt } = certificatePresences
  const files: CertificateFile[] = []
  const served: ServedCertificate[] = []
  const endpoints: EndpointCertificate[] = []
  const fileData = new Map<string, { data: Presence }[]>()
  const page = (after: string, max: number) =>
    read
      .select({ id, certificateId: certificatePresences.certificateId, data, firstSeenAt, lastSeenAt })
      .from(certificatePresences)
      .where(and(eq(certificatePresences.workspaceId, workspaceId), isNull(endedAt), gt(id, after)))
      .orderBy(asc(id))
      .limit(max)
  for await (const rows of batchesOf(page, row => row.id, rowsPerPage))
    for (const { certificateId, data: one, ...times } of rows) {
      if (one.kind === 'file') {
        const { serverId, serverName, path, references } = one
        files.push({ certificateId, serverId, serverName, path, isUsed: references.length > 0, firstSeenAt: times.firstSeenAt })
        fileData.set(certificateId, [...(fileData.get(certificateId) ?? []), { data: one }])
      } else if (one.kind === 'served') served.push({ ...one, certificateId })
      else if (one.kind === 'endpoint')
        endpoints.push({ endpointId: one.endpointId, address: one.address, certificateId, lastSeenAt: times.lastSeenAt })
    }
  return { files, served, endpoints, data: fileData }
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
  chain: certificates.chain,
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
  const revoked = await revokedIssuers(read, workspaceId)
  const page = (after: string, max: number) =>
    read
      .select(columns)
      .from(certificates)
      .where(
        and(
          eq(certificates.workspaceId, workspaceId),
          eq(certificates.isOnlyIssuer, false),
          ne(certificates.presenceCount, 0),
          gt(certificates.id, after),
        ),
      )
      .orderBy(asc(certificates.id))
      .limit(max)
  for await (const rows of batchesOf(page, row => row.id, rowsPerPage))
    for (const row of rows) found.set(row.id, known(row, files.get(row.id) ?? [], revoked))
  return found
}

type RevokedIssuers = ReadonlyMap<string, NonNullable<KnownCertificate['revokedIssuer']>>

const maxRevokedIssuers = 1000

/** The certificates of CAs that were revoked, by id. */
async function revokedIssuers(read: Reader, workspaceId: string): Promise<RevokedIssuers> {
  const { id, commonName, subject, revokedAt } = certificates
  const rows = await read
    .select({ id, commonName, subject, revokedAt })
    .from(certificates)
    .where(and(eq(certificates.workspaceId, workspaceId), eq(certificates.isCa, true), isNotNull(revokedAt)))
    .orderBy(asc(id))
    .limit(maxRevokedIssuers)
  return new Map(rows.map(row => [row.id, { id: row.id, name: row.commonName || row.subject, revokedAt: row.revokedAt! }]))
}

function known(
  { contents, chain, ...row }: Pick<CertificateRow, keyof typeof columns>,
  files: readonly { data: Presence }[],
  revoked: RevokedIssuers,
): KnownCertificate {
  const revokedIssuer = chain.flatMap(id => revoked.get(id) ?? [])[0] ?? null
  const findings = findingsOf({ ...row, contents }, files, 1)
  return {
    ...row,
    revokedIssuer,
    names: new Set([...contents.dns_names.map(name => name.toLowerCase()), ...contents.ip_addresses]),
    findings,
  }
}
