import { Link } from '@tanstack/react-router'
import type { ZoneTransferView } from '../../../features/dns/transfers/shapes'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { Status, Tag } from '../../parts/status'
import type { Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { reasonOfZone } from './records/record-reason'

interface Around {
  nameOf(providerId: string): string
  /** Of all zones. */
  transfers: readonly ZoneTransferView[]
}

/** The columns of the zones. */
export const zoneColumns = ({ nameOf, transfers }: Around): readonly Column<ZoneView>[] => [
  {
    name: 'name',
    title: 'Zone',
    sort: 'name',
    render: one => (
      <span className="font-medium" title={one.name}>
        {one.unicode_name}
      </span>
    ),
  },
  { name: 'state', title: 'State', width: '36%', render: one => <State zone={one} /> },
  {
    name: 'kept',
    title: 'Kept at',
    from: 'lg',
    width: '13rem',
    render: one => [...(one.served ? ['this hub'] : []), ...one.sync.targets.map(at => nameOf(at.provider_id))].join(', '),
  },
  {
    name: 'secondaries',
    title: 'Secondaries',
    from: 'lg',
    width: '8rem',
    render: one => <Secondaries zone={one} transfers={transfers.filter(sent => sent.zone === one.name)} />,
  },
  {
    name: 'records',
    title: 'Records',
    width: '6rem',
    right: true,
    from: 'sm',
    render: one => one.record_count.toLocaleString(),
  },
  {
    name: 'updated',
    title: 'Changed',
    width: '8rem',
    sort: 'updated_at',
    from: 'md',
    render: one => <Ago at={one.updated_at} />,
  },
]

/** How a zone stands; what is not as it is to be leads to the records that are not, with the reason of each. */
function State({ zone }: { zone: ZoneView }) {
  if (zone.status === 'paused') return <Status state="paused" />
  if (zone.synced && !zone.blocked) return <Status state={zone.sync.state} />
  return (
    <Link
      to="/dns/zones/$id"
      params={{ id: zone.id }}
      search={zone.sync.state === 'unmanaged' ? { state: 'unmanaged' } : { synced: 'false' }}
      className="flex max-w-full items-center gap-2 hover:underline"
      title="The records that are not as they are to be, and why"
    >
      {zone.blocked ? <Status state="blocked" label="held back" /> : <Status state={zone.sync.state} />}
      <span className="line-clamp-2 min-w-0 text-[13px] leading-[1.15rem] whitespace-normal text-muted max-sm:hidden">
        {reasonOfZone(zone) ?? differing(zone)}
      </span>
    </Link>
  )
}

function differing(zone: ZoneView): string {
  const count = Math.max(0, ...zone.sync.targets.map(one => one.different_count))
  return count === 0
    ? 'Show why'
    : `${count.toLocaleString()} ${count === 1 ? 'name and type differs' : 'names and types differ'}`
}

/** Whether those that transfer a zone have it as it is now. */
function Secondaries({ zone, transfers }: { zone: ZoneView; transfers: readonly ZoneTransferView[] }) {
  if (!zone.served || transfers.length === 0) return <span className="text-muted">–</span>
  const behind = transfers.filter(one => one.serial !== zone.serial).length
  return behind === 0 ? <Tag>{`${transfers.length} in step`}</Tag> : <Status state="late" label={`${behind} behind`} />
}
