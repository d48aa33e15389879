import type { Followed, ReadAccount } from '../accounts/followed'
import type { CloudVolume } from '../clouds/cloud'
import { isLabeled } from '../clouds/label-change'
import { hasLostMark } from '../clouds/lost-mark'
import { matchesSelector, parseSelector } from '../labels'
import { plainInput, volumeActionKind } from './kinds'
import { volumeRows, type VolumeRow } from './rows'
import { volumeLabels } from './tables'
import { seenVolumeColumns, volumePriceColumns } from './volume-state'

/** Volumes at a cloud. They are added as the account says, and those of servers in the workspace always. */
export const followedVolumes: Followed<VolumeRow, CloudVolume> = {
  type: 'volume',
  rows: volumeRows,
  limit: 'volumes',
  labels: volumeLabels,
  storage: cloud => cloud.volumes,
  columns: (seen, { serverIds, catalog, usage, now }) => ({
    ...seenVolumeColumns(seen, serverIds.get(seen.serverRef ?? '') ?? null, now),
    ...volumePriceColumns(catalog, seen.sizeBytes),
    ...usedColumn(usage, seen),
  }),
  recorded: row => ({
    ...{ name: row.name, size_bytes: row.sizeBytes, location: row.location },
    ...{ server_id: row.serverId, protection: { delete: row.isProtected } },
  }),
  relabeling(row, seen, kind) {
    const labels = { set: row.labels, remove: [] }
    if (row.origin !== 'made' || (isLabeled(seen.labels, labels) && !hasLostMark(row.id, seen, kind))) return null
    const command = { verb: 'update', mark: row.id, isMade: true, name: null, labels } as const
    return { action: volumeActionKind('update'), input: { ...plainInput, command } }
  },
  added(seen, { account, serverIds, catalog, usage, now }) {
    const serverId = serverIds.get(seen.serverRef ?? '') ?? null
    const { mode, label_selector: selector } = account.import
    const isWanted = mode === 'all' || (mode === 'selector' && matchesSelector(parseSelector(selector!), seen.labels))
    if (serverId === null && !isWanted) return null
    return {
      ...{ priceMicros: null, priceCurrency: null, priceAt: null, usedBytes: null },
      ...usedColumn(usage, seen),
      ...seenVolumeColumns(seen, serverId, now),
      ...volumePriceColumns(catalog, seen.sizeBytes),
      ...{ labels: seen.labels, accountId: account.id, origin: 'found', actionId: null },
    }
  },
}

/** What is known stays, if it can't be read now. */
function usedColumn(usage: ReadAccount['usage'], { ref }: CloudVolume): { usedBytes?: number } {
  const used = usage.get(ref)
  return used ? { usedBytes: used.usedBytes } : {}
}
