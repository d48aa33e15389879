import { Link } from '@tanstack/react-router'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Card } from '../../../parts/page'
import { Status, Tag } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useProviderNames } from '../provider-names'

/** How a zone stands at each of its providers. */
export function Targets({ zone }: { zone: ZoneView }) {
  const nameOf = useProviderNames()
  return (
    <Card title="Providers" className="mb-4" flush>
      <ul className="divide-y divide-line">
        {zone.sync.targets.map(one => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
            <Link to="/dns/providers/$id" params={{ id: one.provider_id }} className="font-medium hover:underline">
              {nameOf(one.provider_id)}
            </Link>
            <Status state={one.state} />
            {one.stale && <Tag>stale</Tag>}
            <span className="text-[13px] text-muted">
              read <Ago at={one.checked_at} />
              {one.serial !== null && ` · serial ${one.serial}`}
              {' · in step '}
              <Ago at={one.last_sync_at} />
            </span>
            {one.error && <p className="w-full text-bad wrap-anywhere">{one.error.detail}</p>}
          </li>
        ))}
      </ul>
    </Card>
  )
}
