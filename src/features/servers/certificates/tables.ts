import { sql } from 'drizzle-orm'
import type { CertificateDetails } from '../../../checks/certificate-details'
import { bytes, json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import type { AgentCertificateFile, AgentServedCertificate } from '../../../wire/agent-certificates'
import { agents } from '../agents/tables'
import type { NewerFile } from './newer-on-disk'

const ofAgent = () => ({
  // Of the agent and what identifies the row for it.
  id: text('id').primaryKey(),
  agentId: text('agent_id')
    .notNull()
    .references(() => agents.id, { onDelete: 'cascade' }),
})

/** The certificates that agents found in files and on ports, each once for an agent. */
export const agentCertificates = table(
  'agent_certificates',
  {
    ...ofAgent(),
    sha256: text('sha256').notNull(),
    der: bytes('der').notNull(),
    details: json<CertificateDetails>('details').notNull(),
  },
  t => [index('agent_certificates_agent').on(t.agentId)],
)

/** The files in which agents found certificates, and files and folders that they could not read. */
export const agentCertificateFiles = table(
  'agent_certificate_files',
  {
    ...ofAgent(),
    data: json<AgentCertificateFile>('data').notNull(),
    // When it was first reported with this certificate.
    seenAt: time('seen_at').notNull(),
  },
  t => [index('agent_certificate_files_agent').on(t.agentId)],
)

/** The certificates that ports present, for each server name. */
export const agentServedCertificates = table(
  'agent_served_certificates',
  {
    ...ofAgent(),
    data: json<AgentServedCertificate>('data').notNull(),
    // Null if the port presents the newest certificate.
    newer: json<NewerFile | null>('newer'),
    // When it was first reported with this certificate.
    seenAt: time('seen_at').notNull(),
  },
  t => [
    index('agent_served_certificates_agent').on(t.agentId),
    index('agent_served_certificates_newer')
      .on(t.agentId)
      .where(sql`newer is not null`),
  ],
)

/** The condition of its index. SQLite uses the index only for queries that contain it. */
export const hasNewer = sql`${agentServedCertificates.newer} is not null`
