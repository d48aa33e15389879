import { useState } from 'react'
import type { FirewallVersionView, FirewallView } from '../../../features/servers/firewalls/shapes'
import { actorName } from '../../parts/actor'
import { Button } from '../../parts/button'
import { Diff } from '../../parts/diff'
import { labelOf } from '../../parts/labels'
import { ListCard } from '../../parts/list-card'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'
import { linesOf } from './firewall-text'

const reasons: Readonly<Record<FirewallVersionView['reason'], string>> = {
  created: 'Created',
  changed: 'Changed',
  reverted: 'Restored',
  adopted: 'Adopted from the cloud',
  dynamic_ip: 'Dynamic IP source linked or unlinked',
}

/** The versions of the rules, compared with the current one. */
export function FirewallHistory({ firewall }: { firewall: FirewallView }) {
  const [open, setOpen] = useState<string | null>(null)
  return (
    <ListCard
      title="History"
      rows={useList<FirewallVersionView>(`/firewalls/${firewall.id}/history`, { limit: 20 })}
      empty="No versions."
    >
      {one => (
        <>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium">Version {one.rules_version}</span>
            <span className="grow text-[13px] text-muted">
              {reasons[one.reason]} by {actorName(one.actor)}, <RelativeTime at={one.created_at} />
            </span>
            {one.rules_version === firewall.rules_version ? (
              <span className="text-[13px] text-muted">current</span>
            ) : (
              <Button small aria-expanded={open === one.id} onClick={() => setOpen(open === one.id ? null : one.id)}>
                {open === one.id ? 'Close' : 'Compare with current'}
              </Button>
            )}
          </div>
          {one.note && <p className="mt-1 text-[13px] text-muted wrap-anywhere">{one.note}</p>}
          {one.allowed.length > 0 && (
            <p className="mt-1 text-[13px] text-muted">Overridden checks: {one.allowed.map(labelOf).join(', ')}</p>
          )}
          {open === one.id && (
            <div className="mt-2">
              <Diff
                before={linesOf(one)}
                after={linesOf(firewall)}
                beforeLabel={`Version ${one.rules_version}`}
                afterLabel="Current version"
              />
            </div>
          )}
        </>
      )}
    </ListCard>
  )
}
