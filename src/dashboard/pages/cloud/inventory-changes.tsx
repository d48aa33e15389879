import type { InventoryChangeView } from '../../../features/servers/journal/shapes'
import { formatBytes } from '../../parts/bytes'
import { humanize } from '../../parts/status'
import { useList } from '../../queries'
import { DayCard } from './day-card'

const kinds: Readonly<Record<InventoryChangeView['kind'], string>> = {
  port: 'Port',
  file_system: 'File system',
  disk: 'Disk',
  array: 'Disk array',
  container: 'Container',
  package: 'Package',
  fact: 'Fact',
}

/** What happened, by kind, where it isn’t only added or removed. */
const verbs: Readonly<Partial<Record<`${InventoryChangeView['kind']} ${InventoryChangeView['change']}`, string>>> = {
  'port added': 'opened',
  'port removed': 'closed',
  'file_system added': 'mounted',
  'file_system removed': 'unmounted',
  'package added': 'installed',
  'package changed': 'updated',
}

type Values = NonNullable<InventoryChangeView['before']>

/** A value as text. */
const shown = (field: string, value: unknown): string =>
  value === null || value === undefined
    ? 'unknown'
    : Array.isArray(value)
      ? value.join(', ')
      : typeof value === 'number' && field.endsWith('_bytes')
        ? formatBytes(value)
        : String(value)

/** The fields that differ, or the known ones of what was added or removed. */
function details({ name, before, after }: InventoryChangeView): string[] {
  // A package has only a version.
  const labelOf = (field: string) => (field === 'value' || field === 'version' ? '' : `${field} `)
  const text = (values: Values, field: string) => shown(field === 'value' ? name : field, values[field])
  if (before && after)
    return Object.keys(after)
      .filter(field => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
      .map(field => `${labelOf(field)}${text(before, field)} → ${text(after, field)}`)
  const values = after ?? before ?? {}
  return Object.keys(values)
    .filter(field => values[field] !== null && !name.includes(String(values[field])))
    .map(field => `${labelOf(field)}${text(values, field)}`)
}

/** What was added to a server, removed from it, or changed, day by day, also if the server no longer has an agent. */
export const InventoryChanges = ({ id, hasAgent }: { id: string; hasAgent: boolean }) => (
  <DayCard
    title="Inventory changes"
    rows={useList<InventoryChangeView>(`/servers/${id}/inventory/changes`, { limit: 50 }, { refetchMs: 60_000 })}
    empty={hasAgent ? 'No changes yet.' : null}
  >
    {one => (
      <>
        {kinds[one.kind]} <span className="font-medium">{one.kind === 'fact' ? humanize(one.name) : one.name}</span>{' '}
        {verbs[`${one.kind} ${one.change}`] ?? one.change}
        <p className="text-[13px] text-muted">{details(one).join(' · ')}</p>
      </>
    )}
  </DayCard>
)
