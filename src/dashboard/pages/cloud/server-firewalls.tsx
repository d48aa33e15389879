import { Link } from '@tanstack/react-router'
import type { FirewallView } from '../../../features/servers/firewalls/shapes'
import { ListCard } from '../../parts/list-card'
import { capitalize, humanize, Status } from '../../parts/status'
import { useList } from '../../queries'
import { toneOfFirewall } from './firewall-text'

/** The firewalls of a server, and their state there. */
export const ServerFirewalls = ({ id }: { id: string }) => (
  <ListCard
    title="Firewalls"
    rows={useList<FirewallView>('/firewalls', { server_id: id, sort: 'name' })}
    empty="None, so all incoming traffic is accepted."
    rowClass="flex items-center gap-2"
  >
    {one => {
      const state = one.attached.find(each => each.server_id === id)?.state
      return (
        <>
          <Link to="/firewalls/$id" params={{ id: one.id }} className="min-w-0 grow hover:underline">
            {one.name}
          </Link>
          {state && <Status status={state} label={capitalize(humanize(state))} tone={toneOfFirewall(state)} />}
        </>
      )
    }}
  </ListCard>
)
