import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { zoneStates } from '../dns/records/certificate-names'
import { gapsJobFor, settleMs } from '../certificates/gaps-job'
import { workspacesWithCertificates } from '../certificates/inventory-read'

/** Works out the gaps of all workspaces that have zones or certificates. */
export async function workOutAllGaps(hub: Hub): Promise<void> {
  const withCertificates = await workspacesWithCertificates(hub.read)
  const withZones = await zoneStates(hub.read)
  await start(hub, new Set([...withZones.keys(), ...withCertificates]), hub.clock.now())
}

const lastStates = new WeakMap<Hub, ReadonlyMap<string, string>>()

/**
 * Works out the gaps of workspaces whose zones have changed since the last call in this hub. Changes of records don’t add jobs themselves,
 * which would slow down each of them.
 */
export async function watchZoneChanges(hub: Hub): Promise<void> {
  const before = lastStates.get(hub)
  const now = await zoneStates(hub.read)
  lastStates.set(hub, now)
  if (!before) return
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter(id => before.get(id) !== now.get(id))
  await start(hub, changed, hub.clock.now() + settleMs)
}

const perChange = 500

async function start(hub: Hub, workspaceIds: Iterable<string>, at: number): Promise<void> {
  const ids = [...workspaceIds]
  for (let from = 0; from < ids.length; from += perChange) {
    const jobs = ids.slice(from, from + perChange).map(id => gapsJobFor(id, at))
    await record(hub, async () => ({ result: undefined, jobs }))
  }
}
