import { Globe, Plus } from 'lucide-react'
import type { ZoneTransferView } from '../../../features/dns/transfers/shapes'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Table } from '../../parts/table'
import { useList, useOne } from '../../queries'
import { usePerson } from '../../session'
import { DnsFrame } from './dns-frame'
import { NewZone } from './new-zone'
import { useProviderNames } from './provider-names'
import { zoneColumns } from './zone-columns'

/** The zones of the workspace: where each is kept, how it stands there, and why. */
export default function Zones() {
  const { mayWrite } = usePerson()
  const [asked, set] = useAddress({ sort: 'name', q: '', stands: '', status: '', add: '' })
  const { sort, q, stands, status, add } = asked
  const list = useList<ZoneView>('/dns/zones', { sort, q, status, ...standsQuery(stands), include: 'total' })
  const transfers = useOne<{ data: ZoneTransferView[] }>('/dns/providers/builtin/transfers', {}, { everyMs: 30_000 })
  const nameOf = useProviderNames()
  const newZone = mayWrite && (
    <Button kind="main" data-new icon={<Plus className="size-4" aria-hidden />} onClick={() => set({ add: 'zone' })}>
      New zone
    </Button>
  )
  return (
    <DnsFrame lead="Zones are kept here as data, served by the hub, and brought to providers." actions={newZone}>
      <Filters>
        <SearchField label="Search zones" value={q} onChange={text => set({ q: text })} />
        <Choice label="State" value={stands} onChange={value => set({ stands: value })} choices={standings} />
        <Choice
          label="Status"
          value={status}
          onChange={value => set({ status: value })}
          choices={[
            ['', 'Active or paused'],
            ['active', 'Active'],
            ['paused', 'Paused'],
          ]}
        />
      </Filters>
      <Table
        label="Zones"
        columns={zoneColumns({ nameOf, transfers: transfers.data?.data ?? [] })}
        list={list}
        idOf={one => one.id}
        linkOf={one => `/dns/zones/${one.id}`}
        sort={sort}
        onSort={value => set({ sort: value })}
        rowHeight={52}
        empty={
          q || stands || status ? (
            <Empty icon={Globe} title="No such zones">
              None is like what is asked for.
            </Empty>
          ) : (
            <Empty icon={Globe} title="No zones" action={newZone}>
              A zone has the records of a domain. Make one, or take one over from where it is now.
            </Empty>
          )
        }
      />
      <NewZone open={add !== ''} onClose={() => set({ add: '' })} />
    </DnsFrame>
  )
}

const standings = [
  ['', 'All states'],
  ['not', 'Not as they are to be'],
  ['blocked', 'Held back'],
  ['drifted', 'Drifted'],
  ['conflict', 'In conflict'],
  ['pending', 'Pending'],
  ['error', 'In error'],
  ['synced', 'Synced'],
] as const

function standsQuery(word: string): Record<string, string> {
  if (word === '') return {}
  if (word === 'not') return { synced: 'false' }
  return word === 'blocked' ? { blocked: 'true' } : { state: word }
}
