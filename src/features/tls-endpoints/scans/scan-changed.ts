import { and, eq, gt, inArray } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { certificatesServedAt } from '../../certificates/served'
import { certificatesSeen } from '../../monitors/certificates-seen'
import { tlsTargetsOf } from '../../monitors/tls-targets'
import { locationOf } from '../endpoints'
import { minIntervalSeconds } from '../shapes'
import { tlsEndpoints, tlsScans } from '../tables'
import type { TlsEndpointRow } from '../view'
import { scanJobFor } from './scan-queue'

// Keeps queries and transactions short.
const monitorsAtOnce = 100

/** A certificate that the last check of a monitor got. */
interface Seen {
  monitor: string
  sha256: string
}

/**
 * Scans endpoints whose server sent a certificate to a monitor that is not known there, so that a new one is known soon after the check. Each
 * hub does so for the monitors that it checks. A server that sends another certificate each time is scanned once an hour for that.
 */
export async function scanChanged(hub: Hub): Promise<void> {
  const settled = settledOf(hub)
  const seen = certificatesSeen(hub)
  for (const monitor of settled.keys()) if (!seen.has(monitor)) settled.delete(monitor)
  const unsettled = [...seen]
    .map(([monitor, sha256]): Seen => ({ monitor, sha256 }))
    .filter(one => settled.get(one.monitor) !== one.sha256)
  for (let at = 0; at < unsettled.length; at += monitorsAtOnce)
    for (const { monitor, sha256 } of await settle(hub, unsettled.slice(at, at + monitorsAtOnce))) settled.set(monitor, sha256)
}

/** @returns those that need no scan, or whose scan has been started */
async function settle(hub: Hub, some: readonly Seen[]): Promise<Seen[]> {
  const targets = await tlsTargetsOf(
    hub.read,
    some.map(one => one.monitor),
  )
  const settled = some.filter(one => !targets.has(one.monitor))
  const located = some.flatMap(one => {
    const target = targets.get(one.monitor)
    return target ? [{ one, workspaceId: target.workspaceId, location: locationOf(target) }] : []
  })
  const due = new Map<string, Endpoint>()
  for (const [workspaceId, own] of Map.groupBy(located, one => one.workspaceId)) {
    const endpoints = await endpointsAt(
      hub,
      workspaceId,
      own.map(one => one.location),
    )
    const ids = [...endpoints.values()].map(one => one.id)
    const [served, waiting] =
      ids.length > 0 ? [await certificatesServedAt(hub.read, workspaceId, ids), await scannedRecently(hub, ids)] : []
    for (const { one, location } of own) {
      const endpoint = endpoints.get(location)
      const isDue = endpoint && !served!.get(endpoint.id)!.has(one.sha256)
      // The first scan of a new endpoint may still be running.
      if (isDue && (endpoint.lastScanAt === null || waiting!.has(endpoint.id))) continue
      if (isDue) due.set(endpoint.id, endpoint)
      settled.push(one)
    }
    if (isTurnOver()) await yieldToEventLoop()
  }
  if (due.size > 0)
    await record(hub, async () => ({
      result: undefined,
      jobs: [...due.values()].map(endpoint => scanJobFor(endpoint, 'certificate')),
    }))
  return settled
}

type Endpoint = Pick<TlsEndpointRow, 'id' | 'workspaceId' | 'host' | 'location' | 'lastScanAt'>

/** The endpoints that are scanned on schedule, by location. */
async function endpointsAt(hub: Hub, workspaceId: string, locations: readonly string[]): Promise<Map<string, Endpoint>> {
  const { id, host, workspaceId: workspace, location, lastScanAt, active } = tlsEndpoints
  const rows = await hub.read
    .select({ id, workspaceId: workspace, host, location, lastScanAt })
    .from(tlsEndpoints)
    .where(and(eq(workspace, workspaceId), inArray(location, [...locations]), eq(active, true)))
  return new Map(rows.map(row => [row.location, row]))
}

/** Those that were scanned within the last hour because of a certificate. */
async function scannedRecently(hub: Hub, endpointIds: readonly string[]): Promise<Set<string>> {
  const { endpointId, trigger, startedAt } = tlsScans
  const since = hub.clock.now() - minIntervalSeconds * 1000
  const rows = await hub.read
    .select({ endpointId })
    .from(tlsScans)
    .where(and(inArray(endpointId, [...endpointIds]), eq(trigger, 'certificate'), gt(startedAt, since)))
  return new Set(rows.map(row => row.endpointId))
}

const ofHub = new WeakMap<Hub, Map<string, string>>()

/** By monitor, the last certificate for which nothing is left to do. */
function settledOf(hub: Hub): Map<string, string> {
  let settled = ofHub.get(hub)
  if (!settled) ofHub.set(hub, (settled = new Map()))
  return settled
}
