import { Link } from '@tanstack/react-router'
import type { DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { openDialog } from '../../../parts/open-dialog'
import { Facts } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { useProviderNames } from '../provider-names'
import { isInSync, reasonAt } from './record-reason'

interface RecordStateProps {
  record: DnsRecordView
  zone: ZoneView
}

/** Sync state of a record with the reason. Opens a dialog with the state at each provider. */
export function RecordState({ record, zone }: RecordStateProps) {
  const nameOf = useProviderNames()
  const { state, targets } = record.sync
  // With a single provider, its name isn’t needed.
  const placeOf = (id: string) => (targets.length === 1 ? 'at the provider' : `at ${nameOf(id)}`)
  const reason = targets.map(at => reasonAt(at, zone, placeOf(at.provider_id))).find(one => one !== null)
  if (isInSync(state)) return <Status status={state} />
  const open = () =>
    openDialog({
      title: `${record.type} record for ${record.unicode_fqdn}`,
      description: 'Status at each provider of the zone, as of the last check.',
      content: <Targets record={record} zone={zone} />,
    })
  return (
    <button
      type="button"
      onClick={open}
      className="flex max-w-full items-center gap-2 rounded text-left hover:underline"
      title={reason ?? undefined}
    >
      <Status status={state} />
      <span className="line-clamp-2 min-w-0 text-[13px] leading-[1.15rem] whitespace-normal text-muted">
        {reason ?? 'Details'}
      </span>
    </button>
  )
}

function Targets({ record, zone }: RecordStateProps) {
  const nameOf = useProviderNames()
  return (
    <div className="flex flex-col gap-4">
      {record.sync.targets.map(at => (
        <section key={at.provider_id} className="rounded-md border border-line p-3">
          <h3 className="mb-2 flex flex-wrap items-center gap-2 font-medium">
            {nameOf(at.provider_id)}
            <Status status={at.state} />
          </h3>
          <Facts
            rows={[
              ['Reason', reasonAt(at, zone, 'at the provider')],
              record.managed ? ['Desired', <RrsetLines ttl={record.ttl} values={[record.content]} />] : null,
              ['At the provider', at.observed ? <RrsetLines {...at.observed} /> : <span className="text-muted">None</span>],
              ['Checked', <RelativeTime at={at.checked_at} />],
            ]}
          />
        </section>
      ))}
      <p>
        <Link to="/dns/zones/$id/$tab" params={{ id: zone.id, tab: 'drift' }} className="text-accent hover:underline">
          Review drift
        </Link>
      </p>
    </div>
  )
}

const RrsetLines = ({ ttl, values }: { ttl: number; values: readonly string[] }) => (
  <ul>
    {[`TTL ${ttl}`, ...values].map(line => (
      <li key={line} className="font-mono text-[13px] wrap-anywhere">
        {line}
      </li>
    ))}
  </ul>
)
