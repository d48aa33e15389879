import { Globe } from 'lucide-react'
import type { ZoneTransferView } from '../../features/dns/transfers/shapes'
import { ListPage } from '../parts/list'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { dnsTabs } from './dns/dns-tabs'
import { createZone } from './dns/new-zone'
import { useProviderNames } from './dns/provider-names'
import { zoneColumns } from './dns/zone-columns'

const states = {
  out_of_sync: 'Out of sync',
  blocked: 'Blocked',
  drifted: 'Drifted',
  conflict: 'Conflict',
  pending: 'Pending',
  error: 'Error',
  unmanaged: 'Unmanaged records',
  synced: 'Served or synced',
}

/** List of zones with their providers and sync states. */
export default function Zones() {
  const { canWrite } = usePerson()
  const transfers = useOne<{ data: ZoneTransferView[] }>('/dns/providers/builtin/transfers', {}, { refetchMs: 30_000 })
  const nameOf = useProviderNames()
  return (
    <ListPage
      label="Zones"
      description="Manage your DNS zones, serve them with the built-in name server, and sync them to providers."
      tabs={dnsTabs}
      path="/dns/zones"
      page="/dns/zones/$id"
      create={canWrite && { label: 'Create zone', onClick: createZone }}
      columns={zoneColumns({ nameOf, transfers: transfers.data?.data ?? [] })}
      sort="name"
      search
      counted
      query={({ state = '', ...rest }) => ({ ...rest, ...stateQuery(state) })}
      filters={[
        { name: 'state', label: 'Sync status', all: 'All sync statuses', choices: states },
        { name: 'status', label: 'Status', all: 'All statuses', choices: { active: 'Active', paused: 'Paused' } },
      ]}
      empty={{
        icon: Globe,
        text: 'A zone contains the DNS records of a domain. Create one, or import it from where it is hosted now.',
      }}
    />
  )
}

function stateQuery(state: string): Record<string, string> {
  if (state === '') return {}
  if (state === 'out_of_sync') return { synced: 'false' }
  return state === 'blocked' ? { blocked: 'true' } : { state }
}
