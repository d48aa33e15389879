import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { certificatePresences, certificates } from './tables'

/** The certificates that TLS endpoints of a workspace serve as far as scans know: SHA-256 by endpoint. */
export async function certificatesServedAt(
  read: Reader,
  workspaceId: string,
  endpointIds: readonly string[],
): Promise<Map<string, Set<string>>> {
  const { scopeId, kind, endedAt, certificateId } = certificatePresences
  const rows = await read
    .select({ endpointId: scopeId, sha256: certificates.sha256 })
    .from(certificatePresences)
    .innerJoin(certificates, eq(certificates.id, certificateId))
    .where(
      and(
        eq(certificatePresences.workspaceId, workspaceId),
        eq(kind, 'endpoint'),
        inArray(scopeId, [...endpointIds]),
        isNull(endedAt),
      ),
    )
  const served = new Map(endpointIds.map(id => [id, new Set<string>()]))
  for (const { endpointId, sha256 } of rows) served.get(endpointId)!.add(sha256)
  return served
}
