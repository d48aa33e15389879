import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Dialog } from '../../../parts/dialog'
import { Facts } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useProviderNames } from '../provider-names'
import { isAsItIsToBe, reasonAt } from './record-reason'

interface RecordStateProps {
  record: DnsRecordView
  zone: ZoneView
}

/** How a record stands at the providers of its zone, and why; opens to tell it of each of them. */
export function RecordState({ record, zone }: RecordStateProps) {
  const [isOpen, setOpen] = useState(false)
  const nameOf = useProviderNames()
  const { state, targets } = record.sync
  // Of one provider it need not be said which.
  const placeOf = (id: string) => (targets.length === 1 ? 'there' : `at ${nameOf(id)}`)
  const reason = targets.map(at => reasonAt(at, zone, placeOf(at.provider_id))).find(one => one !== null)
  if (isAsItIsToBe(state)) return <Status state={state} />
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="flex max-w-full items-center gap-2 rounded text-left hover:underline"
        title={reason ?? undefined}
      >
        <Status state={state} />
        <span className="line-clamp-2 min-w-0 text-[13px] leading-[1.15rem] whitespace-normal text-muted">
          {reason ?? 'Why?'}
        </span>
      </button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={`${record.type} of ${record.unicode_fqdn}`}
        description="How all its values stand at each provider of the zone, as of the last reading."
      >
        {isOpen && <Targets record={record} zone={zone} />}
      </Dialog>
    </>
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
            <Status state={at.state} />
          </h3>
          <Facts
            rows={[
              ['Why', reasonAt(at, zone, 'there')],
              record.managed ? ['Here', <code className="font-mono text-[13px]">{record.content}</code>] : null,
              ['There', <There observed={at.observed} />],
              ['Read', <Ago at={at.checked_at} />],
            ]}
          />
        </section>
      ))}
      <p>
        <Link to="/dns/zones/$id/$tab" params={{ id: zone.id, tab: 'drift' }} className="text-accent hover:underline">
          Compare, adopt or put back
        </Link>
      </p>
    </div>
  )
}

const There = ({ observed }: { observed: DnsRecordView['sync']['targets'][number]['observed'] }) =>
  observed === null ? (
    <span className="text-muted">nothing</span>
  ) : (
    <ul>
      {observed.values.map(value => (
        <li key={value} className="font-mono text-[13px] wrap-anywhere">
          {observed.ttl} {value}
        </li>
      ))}
    </ul>
  )
