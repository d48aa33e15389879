import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ZoneTransferView } from '../../../features/dns/transfers/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { Status, Tag } from '../../parts/status'
import type { Column } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { reasonOfZone } from './records/record-reason'
import { zoneStatus } from './zone-status'

interface ColumnContext {
  nameOf(providerId: string): string
  /** Transfers of all zones. */
  transfers: readonly ZoneTransferView[]
}

/** Columns of the zones table. */
export const zoneColumns = ({ nameOf, transfers }: ColumnContext): readonly Column<ZoneView>[] => [
  {
    title: 'Zone',
    sort: 'name',
    render: one => (
      <span className="font-medium" title={one.name}>
        {one.unicode_name}
      </span>
    ),
  },
  { title: 'Status', width: '34cqw', onPhone: 'line', render: one => <State zone={one} /> },
  {
    title: 'Hosted at',
    showFrom: 'lg',
    width: 'clamp(12rem, 18cqw, 32rem)',
    onPhone: 'plain',
    render: one =>
      [...(one.served ? ['Built-in'] : []), ...one.sync.targets.map(target => nameOf(target.provider_id))].join(', '),
  },
  {
    title: 'Secondaries',
    showFrom: 'lg',
    width: '8rem',
    render: one =>
      secondariesOf(
        one,
        transfers.filter(sent => sent.zone === one.name),
      ),
  },
  { title: 'Records', width: '6rem', alignRight: true, render: one => one.record_count.toLocaleString() },
  { title: 'Updated', width: '8rem', sort: 'updated_at', showFrom: 'md', render: one => <RelativeTime at={one.updated_at} /> },
]

/** Sync state of a zone. Links to the records that are out of sync, with the reason of each. */
function State({ zone }: { zone: ZoneView }) {
  const status = zoneStatus(zone)
  if (status === 'paused' || (zone.synced && !zone.blocked)) return <Status status={status} />
  return (
    <Link
      to="/dns/zones/$id"
      params={{ id: zone.id }}
      search={zone.sync.state === 'unmanaged' ? { state: 'unmanaged' } : { state: 'out_of_sync' }}
      className="flex max-w-full items-center gap-2 hover:underline"
      title="Show records that are out of sync"
    >
      <Status status={status} {...(status === 'unmanaged' && { label: 'unmanaged records' })} />
      <span className="min-w-0 text-[13px] text-muted">{reasonOfZone(zone) ?? differenceCount(zone)}</span>
    </Link>
  )
}

function differenceCount(zone: ZoneView): string {
  const count = Math.max(0, ...zone.sync.targets.map(one => one.out_of_sync_count))
  return count === 0 ? 'Show details' : `${count.toLocaleString()} ${count === 1 ? 'record set differs' : 'record sets differ'}`
}

/** Whether secondaries have the current serial of a zone. */
function secondariesOf(zone: ZoneView, transfers: readonly ZoneTransferView[]): ReactNode {
  if (!zone.served || transfers.length === 0) return null
  const behind = transfers.filter(one => one.serial !== zone.serial).length
  return behind === 0 ? <Tag>{`${transfers.length} in sync`}</Tag> : <Status status="late" label={`${behind} behind`} />
}
