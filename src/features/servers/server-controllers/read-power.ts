import { eq } from 'drizzle-orm'
import { suspendedRetryMs } from '../../../access/suspension'
import { workspaces } from '../../../access/tables'
import { callWithin } from '../../../adapters/call'
import { AdapterError } from '../../../adapters/failure'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { DecryptionFailed } from '../../../core/secrets'
import { controllerKindOf } from '../controllers'
import type { Power } from '../controllers/controller'
import { agentsOf } from '../agents/rows'
import { recordSensors } from '../metrics/recorder'
import { proofsOf } from '../proofs'
import { writeState } from '../state'
import { servers } from '../tables'
import { powerJobFor, powerKind } from './power-jobs'
import { checkControllerNow, openController, type ControllerRow } from './server-controllers'
import { serverControllers } from './tables'

/** Pause between two readings of the power. */
const everyMs = 60_000
/** How long a reading counts if no other one succeeds. */
const staleMs = 5 * 60_000
/** How long the sensors may take, which some controllers return one by one. */
const maxSensorsMs = 30_000

/** Reads the power of a server each minute, as long as its controller works. */
export const readPowerJob: JobKind<{ server_controller_id: string }> = {
  kind: powerKind,
  concurrency: 16,
  leaseMs: 2 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, { payload }) {
    const [found] = await hub.read
      .select({ controller: serverControllers, deletedAt: servers.deletedAt, suspendedAt: workspaces.suspendedAt })
      .from(serverControllers)
      .innerJoin(servers, eq(servers.id, serverControllers.serverId))
      .innerJoin(workspaces, eq(workspaces.id, serverControllers.workspaceId))
      .where(eq(serverControllers.id, payload.server_controller_id))
    if (!found || !controllerKindOf(found.controller.kind)?.readsPower) return undefined
    const { controller, deletedAt, suspendedAt } = found
    if (deletedAt !== null) return tx => forget(tx, controller.id)
    if (suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [powerJobFor(controller.id, hub.clock.now() + suspendedRetryMs)] })
    const power = controller.state === 'ok' ? await powerOf(hub, controller) : null
    if (power !== null) await readSensors(hub, controller)
    return tx => storePower(tx, hub, controller.id, power)
  },
}

/** The power of a server; null if it can't be read. */
async function powerOf(hub: Hub, controller: ControllerRow): Promise<Power | null> {
  try {
    return await (
      await openController(hub, controller)
    ).power!()
  } catch (error) {
    if (error instanceof AdapterError || error instanceof DecryptionFailed) return null
    throw error
  }
}

/** Stores what the sensors measure. What can't be read is left out. */
async function readSensors(hub: Hub, row: ControllerRow): Promise<void> {
  try {
    const controller = await openController(hub, row)
    const readings = controller.sensors && (await callWithin(maxSensorsMs, () => controller.sensors!()))
    if (readings) await recordSensors(hub, row.serverId, readings)
  } catch (error) {
    if (!(error instanceof AdapterError) && !(error instanceof DecryptionFailed)) throw error
  }
}

async function storePower(tx: Tx, hub: Hub, id: string, power: Power | null): Promise<RecordResult<undefined>> {
  const [found] = await tx
    .select({ serverId: serverControllers.serverId })
    .from(serverControllers)
    .where(eq(serverControllers.id, id))
  if (!found) return { result: undefined }
  // Servers are locked before their controllers.
  await forUpdate(tx.select({ id: servers.id }).from(servers).where(eq(servers.id, found.serverId)))
  const [row] = await forUpdate(tx.select().from(serverControllers).where(eq(serverControllers.id, id)))
  if (!row) return { result: undefined }
  const now = hub.clock.now()
  const next = powerJobFor(id, now + everyMs)
  // A check finds out why it can't be read.
  const jobs = power === null && row.state === 'ok' ? [next, checkControllerNow(id, now)] : [next]
  const isStale = row.powerAt === null || now - row.powerAt > staleMs
  const known = power ?? (isStale ? 'unknown' : row.power)
  if (power !== null || known !== row.power)
    await tx
      .update(serverControllers)
      .set({ power: known, ...(power !== null && { powerAt: now }) })
      .where(eq(serverControllers.id, id))
  return { result: undefined, jobs, events: await followPower(tx, hub, row.serverId, known) }
}

/** Writes the power of a server that has no cloud: a cloud tells its own. */
async function followPower(tx: Tx, hub: Hub, serverId: string, measured: Power) {
  const [server] = await forUpdate(tx.select().from(servers).where(eq(servers.id, serverId)))
  if (!server || server.accountId !== null || server.deletedAt !== null) return []
  const agent = (await agentsOf(tx, [server])).get(serverId)
  const power = measured === 'unknown' && agent?.state === 'reporting' ? 'on' : measured
  // An action that works on it knows more about its status.
  const status = server.actionId !== null ? server.status : power === 'off' ? 'off' : power === 'on' ? 'running' : 'unknown'
  if (server.power === power && server.status === status) return []
  const { events } = await writeState(tx, hub, server, { power, status }, await proofsOf(tx, server, null), {
    source: 'controller',
    reason:
      measured === 'unknown' ? 'The controller no longer tells the power.' : `The controller reports that the power is ${power}.`,
  })
  return events
}

/** A deleted server is kept for a while, but not its controllers. */
async function forget(tx: Tx, id: string): Promise<RecordResult<undefined>> {
  await tx.delete(serverControllers).where(eq(serverControllers.id, id))
  return { result: undefined }
}
