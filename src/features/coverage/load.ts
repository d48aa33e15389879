import type { Reader } from '../../core/db/transaction'
import { runInSlices } from '../../core/time-slices'
import { inventoryOf } from '../certificates/inventory-read'
import { namesInZones } from '../dns/records/certificate-names'
import { tlsTargets } from '../monitors/tls-targets'
import { lastScansOf } from '../tls-endpoints/last-scans'
import type { GapSources } from './gaps'
import { expectedNames } from './names'
import { scannedEndpoints } from './scanned-endpoints'
import { settingsOf } from './settings'

/** Reads everything that the gaps of a workspace depend on, page by page. */
export async function gapSourcesOf(read: Reader, workspaceId: string): Promise<GapSources> {
  const settings = await settingsOf(read, workspaceId)
  const { zones, records, caa } = await namesInZones(read, workspaceId)
  const { certificates, files, served, endpoints } = await inventoryOf(read, workspaceId)
  const scans = await lastScansOf(read, workspaceId)
  const monitors = await tlsTargets(read, workspaceId)
  const expected = await runInSlices(
    expectedNames({
      ...settings,
      zones,
      records,
      monitors: monitors.map(({ host, port, protocol, servername }) => ({ name: servername ?? host, port, protocol })),
      agents: served.flatMap(one => one.servername ?? []),
    }),
  )
  return {
    ...{ expected, zones, caa, certificates, files, served },
    endpoints: await runInSlices(scannedEndpoints(scans, endpoints)),
    recorded: new Set(records.map(one => one.name)),
  }
}
