import type { Reader } from '../../core/db/transaction'
import { runInSlices } from '../../core/time-slices'
import { inventoryOf } from '../certificates/inventory-read'
import { namesInZones } from '../dns/records/certificate-names'
import { tlsTargets } from '../monitors/tls-targets'
import type { ScanTarget } from '../tls-endpoints/following'
import { lastScansOf } from '../tls-endpoints/last-scans'
import type { GapSources } from './gaps'
import { expectedNames } from './names'
import { scannedEndpoints } from './scanned-endpoints'
import { coverageSettingsOf } from './settings'
import { wantedEndpoints } from './wanted-endpoints'

/** What is expected and known in a workspace. */
interface Sources {
  gapSources: GapSources
  /** The servers that have to be scanned because of expected names. */
  wanted: readonly ScanTarget[]
}

/** Reads everything that the gaps of a workspace depend on, page by page. */
export async function sourcesOf(read: Reader, workspaceId: string): Promise<Sources> {
  const settings = await coverageSettingsOf(read, workspaceId)
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
  const gapSources = {
    ...{ expected, zones, caa, certificates, files, served },
    endpoints: await runInSlices(scannedEndpoints(scans, endpoints)),
    recorded: new Set(records.map(one => one.name)),
    aliases: new Map(records.flatMap(one => (one.type === 'CNAME' && one.target !== null ? [[one.name, one.target]] : []))),
  }
  return { gapSources, wanted: await runInSlices(wantedEndpoints(expected, scans, monitors)) }
}
