import { Link } from '@tanstack/react-router'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useProviderNames } from './provider-names'
import { Throttled } from './throttled'

/** Sync state of a zone at each provider, and the reasons if changes are blocked. */
export function ZoneSyncStatus({ zone }: { zone: ZoneView }) {
  const nameOf = useProviderNames()
  const { targets } = zone.sync
  return (
    <>
      {targets.length > 0 && (
        <ul className="mb-4 flex flex-col gap-1 text-[13px]" aria-label="Providers">
          {targets.map(one => (
            <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1">
              <Link to="/dns/providers/$id" params={{ id: one.provider_id }} className="font-medium hover:underline">
                {nameOf(one.provider_id)}
              </Link>
              <Status status={one.state} />
              {one.stale && <Status status="late" label="stale" />}
              <span className="text-muted">
                checked <RelativeTime at={one.checked_at} fallback="never" />, synced{' '}
                <RelativeTime at={one.last_sync_at} fallback="never" />
              </span>
              <Throttled target={one} />
              {one.error && <span className="text-bad wrap-anywhere">{one.error.detail}</span>}
            </li>
          ))}
        </ul>
      )}
      {zone.blocked && (
        <div role="alert" className="mb-4 rounded-lg border border-line bg-warn-soft p-3 text-warn">
          <p className="font-medium">Changes are blocked and won’t be synced to the providers:</p>
          <ul className="list-disc pl-5">
            {zone.blocked.reasons.map(one => (
              <li key={one.code}>{one.detail}</li>
            ))}
          </ul>
          <Link
            to="/dns/zones/$id/$tab"
            params={{ id: zone.id, tab: 'plans' }}
            search={{ plan: zone.blocked.plan_id }}
            className="underline"
          >
            Review plan
          </Link>
        </div>
      )}
    </>
  )
}
