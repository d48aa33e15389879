import { and, eq, inArray } from 'drizzle-orm'
import type { CertificateDetails } from '../../../checks/certificate-details'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'
import { findRow } from '../../../core/rows'
import type { AgentServedCertificate } from '../../../wire/agent-certificates'
import { agentOf, whyNotReported } from '../agents/rows'
import { serverRows } from '../view'
import { services } from './not-served'
import type { ServerCertificatesView, ServerCertificateView } from './shapes'
import { agentCertificateFiles, agentCertificates, agentServedCertificates, hasNewer } from './tables'

/** Returns the certificates that the agent of a server found. @throws Problem 404 */
export async function getCertificates(ctx: Ctx, id: string): Promise<ServerCertificatesView> {
  const { read } = ctx.hub
  await findRow(read, ctx, serverRows, id)
  const agent = await agentOf(read, id)
  const found = agent ? await foundBy(read, agent.id) : { files: [], served: [], certificates: [] }
  const reportedAt = agent?.certificatesAt ?? null
  const isEmpty = found.files.length === 0 && found.served.length === 0
  return {
    agent_id: agent?.id ?? null,
    observed_at: instant(agent?.lastReportAt ?? null),
    stale: agent !== undefined && agent.state !== 'reporting',
    reported_at: instant(reportedAt),
    reason: !isEmpty ? null : reportedAt === null ? whyNotReported(agent) : foundNone,
    ...found,
  }
}

const foundNone =
  'The agent found no certificates. Add your own files with the setting `certificates` in /etc/bailiwick-agent/agent.conf.'

type Found = Pick<ServerCertificatesView, 'files' | 'served' | 'certificates'>

async function foundBy(read: Reader, agentId: string): Promise<Found> {
  const { sha256, details } = agentCertificates
  const certificates = await read
    .select({ sha256, details })
    .from(agentCertificates)
    .where(eq(agentCertificates.agentId, agentId))
    .orderBy(sha256)
  const files = await read.select().from(agentCertificateFiles).where(eq(agentCertificateFiles.agentId, agentId))
  const served = await read.select().from(agentServedCertificates).where(eq(agentServedCertificates.agentId, agentId))
  return {
    files: files
      .map(({ data, seenAt }) => ({
        ...data,
        modified_at: instant(data.modified_at),
        first_seen_at: instant(seenAt),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    served: served
      .map(({ data, newer, seenAt }) => ({
        ...data,
        on_disk_not_served: newer !== null,
        newer_file: newer,
        first_seen_at: instant(seenAt),
      }))
      .sort((a, b) => a.port - b.port || (sortKey(a) < sortKey(b) ? -1 : 1)),
    certificates: certificates.map(one => viewOf(one.details)),
  }
}

const sortKey = ({ address, sni }: AgentServedCertificate): string => `${address} ${sni ?? ''}`

const viewOf = (details: CertificateDetails): ServerCertificateView => ({
  sha256: details.sha256,
  subject: details.subject,
  issuer: details.issuer,
  serial_number: details.serial,
  names: details.names,
  not_before: instant(details.not_before),
  not_after: instant(details.not_after),
  key: details.key,
})

/**
 * The services of agents that don’t present the newest certificate on disk, as `shop.example.com on port 443`: each certificate of a port
 * once. Agents that have not reported any certificates are missing.
 */
export async function notServedBy(
  read: Reader,
  agents: readonly { id: string; certificatesAt: number | null }[],
): Promise<Map<string, string[]>> {
  const reported = agents.filter(one => one.certificatesAt !== null).map(one => one.id)
  if (reported.length === 0) return new Map()
  const rows = await read
    .select()
    .from(agentServedCertificates)
    .where(and(inArray(agentServedCertificates.agentId, reported), hasNewer))
  const found = Map.groupBy(rows, row => row.agentId)
  return new Map(
    reported.map(id => [
      id,
      [...services(found.get(id) ?? []).values()]
        .map(({ names, port }) => `${names[0] ? `${names[0]} on ` : ''}port ${port}`)
        .sort(),
    ]),
  )
}
