import { and, eq, inArray, isNotNull } from 'drizzle-orm'
import { record } from '../../../core/change'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { gapsJobFor, settleMs } from '../../certificates/gaps-job'
import { endPresences, recordCertificates, type Sighting } from '../../certificates/record'
import { agents, hasNewCertificates } from '../agents/tables'
import { servers } from '../tables'
import { agentCertificateFiles, agentCertificates, agentServedCertificates } from './tables'

const agentsPerBatch = 50
/** New certificates are parsed and verified within a transaction, which must be short. */
const sightingsPerBatch = 100

/**
 * Records in the certificate inventory what agents have found since the last run, and that certificates of deleted servers are no longer there. Repeated runs, here or in another hub, change nothing.
 */
export async function recordAgentCertificates(hub: Hub): Promise<void> {
  for (;;) {
    const pending = await hub.read.select({ id: agents.id }).from(agents).where(hasNewCertificates).limit(agentsPerBatch)
    for (const { id } of pending) await recordFound(hub, id)
    if (pending.length < agentsPerBatch) break
  }
  const ofDeleted = await hub.read
    .select({ id: agents.id })
    .from(servers)
    .innerJoin(agents, eq(agents.serverId, servers.id))
    .where(and(isNotNull(servers.deletedAt), isNotNull(agents.certificatesAt)))
    .limit(agentsPerBatch)
  for (const { id } of ofDeleted) await recordFound(hub, id)
}

/** Certificates on servers that are deleted, or whose agent is, are not known to be there any longer. Call it before. @param now the time (ms UTC) */
export async function forgetCertificates(tx: Tx, workspaceId: string, serverIds: readonly string[], now: number): Promise<void> {
  const found = await tx
    .select({ serverId: agents.serverId })
    .from(agents)
    .where(and(eq(agents.workspaceId, workspaceId), inArray(agents.serverId, [...serverIds]), isNotNull(agents.certificatesAt)))
  const places = found.flatMap(one => placesOn(one.serverId!))
  await endPresences(tx, workspaceId, places, now)
}

const placesOn = (serverId: string) => (['file', 'served'] as const).map(kind => ({ kind, scopeId: serverId }))

async function recordFound(hub: Hub, agentId: string): Promise<void> {
  const found = await foundBy(hub.read, agentId)
  const { workspaceId } = found
  for (let at = sightingsPerBatch; at < found.sightings.length; at += sightingsPerBatch)
    await record(hub, async tx => ({
      result: await recordCertificates(tx, workspaceId, found.sightings.slice(at - sightingsPerBatch, at), hub.clock.now()),
    }))
  await record(hub, async tx => {
    // What it reports from here on waits for the next run.
    await forUpdate(tx.select({ id: agents.id }).from(agents).where(eq(agents.id, agentId)))
    const { sightings, scope, ...latest } = await foundBy(tx, agentId)
    await recordCertificates(tx, workspaceId, sightings, hub.clock.now(), { all: scope === null ? [] : placesOn(scope) })
    await tx
      .update(agents)
      .set({ certificatesPending: false, ...(latest.isDeleted && { certificatesAt: null }) })
      .where(eq(agents.id, agentId))
    return { result: undefined, jobs: [gapsJobFor(workspaceId, hub.clock.now() + settleMs)] }
  })
}

interface Found {
  workspaceId: string
  /** The server whose places they are. Null if the agent reports about none. */
  scope: string | null
  isDeleted: boolean
  sightings: Sighting[]
}

async function foundBy(read: Reader | Tx, agentId: string): Promise<Found> {
  const [row] = await read
    .select({
      workspaceId: agents.workspaceId,
      serverId: agents.serverId,
      serverName: servers.name,
      deletedAt: servers.deletedAt,
    })
    .from(agents)
    .leftJoin(servers, eq(servers.id, agents.serverId))
    .where(eq(agents.id, agentId))
  if (!row) return { workspaceId: '', scope: null, isDeleted: false, sightings: [] }
  const { workspaceId, serverId, serverName } = row
  const isDeleted = row.deletedAt !== null
  if (serverId === null || isDeleted) return { workspaceId, scope: serverId, isDeleted, sightings: [] }
  const certificates = await read.select().from(agentCertificates).where(eq(agentCertificates.agentId, agentId))
  const files = await read.select().from(agentCertificateFiles).where(eq(agentCertificateFiles.agentId, agentId))
  const served = await read.select().from(agentServedCertificates).where(eq(agentServedCertificates.agentId, agentId))
  const bySha256 = new Map(certificates.map(one => [one.sha256, one.der]))
  const chainOf = ({ chain }: { chain: readonly string[] }) => chain.flatMap(sha256 => bySha256.get(sha256) ?? [])
  const of = { serverId, serverName: serverName ?? serverId }
  return {
    ...{ workspaceId, scope: serverId, isDeleted },
    sightings: [
      ...files.map(({ data }) => {
        const { path, references, key } = data
        const state = !key ? 'missing' : key.matches === null ? 'unreadable' : key.matches ? 'matches' : 'mismatch'
        const presence = { kind: 'file', ...of, path, key: state, mode: key?.mode ?? null, references } as const
        return { chain: chainOf(data), presence }
      }),
      ...served.map(({ data }) => {
        const { address, port, sni: servername, process } = data
        return { chain: chainOf(data), presence: { kind: 'served', ...of, address, port, servername, process } as const }
      }),
    ].filter(one => one.chain.length > 0),
  }
}
