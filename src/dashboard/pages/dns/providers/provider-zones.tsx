import { Link } from '@tanstack/react-router'
import { Globe } from 'lucide-react'
import { useState } from 'react'
import type { DnsProviderView, DnsProviderZoneView } from '../../../../features/dns/accounts/shapes'
import { useAddress } from '../../../parts/address'
import { Button } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Filters, SearchField } from '../../../parts/filters'
import { Card } from '../../../parts/page'
import { StatusIcon } from '../../../parts/status'
import { Table, type Column } from '../../../parts/table'
import { useList } from '../../../queries'
import { usePerson } from '../../../session'
import { useTakeOver, type Taken } from './take-over'

/** The zones that a provider has at this moment; those that are not kept here can be taken over. */
export function ProviderZones({ provider }: { provider: DnsProviderView }) {
  const { mayWrite } = usePerson()
  const [{ q }, set] = useAddress({ q: '' })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const list = useList<DnsProviderZoneView>(provider.state === 'ok' ? `/dns/providers/${provider.id}/zones` : null, {
    q: q.toLowerCase(),
  })
  const { takeOver, taken, isPending } = useTakeOver(provider.id)
  const free = list.rows.filter(one => chosen.has(one.name) && one.zone_id === null)
  if (provider.state !== 'ok') return null
  return (
    <Card
      title="Zones there"
      className="lg:col-span-2"
      actions={
        mayWrite &&
        free.length > 0 && (
          <Button
            small
            kind="main"
            disabled={isPending}
            onClick={() => void takeOver(free.map(one => one.name)).then(() => setChosen(new Set()))}
          >
            {isPending ? 'Taking over…' : `Take over ${free.length === 1 ? free[0]!.unicode_name : `${free.length} zones`}`}
          </Button>
        )
      }
    >
      <p className="mb-3 text-muted">
        A zone that is taken over is read as it is. Nothing changes there by that; from then on it is changed and watched from
        here.
      </p>
      <Filters>
        <SearchField label="Search zones" value={q} onChange={text => set({ q: text })} />
      </Filters>
      <Table
        label="Zones at the provider"
        columns={columns(taken)}
        list={list}
        idOf={one => one.name}
        empty={<Empty icon={Globe} title={q === '' ? 'No zones there' : 'No zone is like that'} />}
        {...(mayWrite && { chosen, onChosen: setChosen })}
      />
    </Card>
  )
}

const columns = (taken: Taken): readonly Column<DnsProviderZoneView>[] => [
  {
    name: 'name',
    title: 'Zone',
    render: one =>
      one.zone_id ? (
        <Link to="/dns/zones/$id" params={{ id: one.zone_id }} className="font-medium text-accent hover:underline">
          {one.unicode_name}
        </Link>
      ) : (
        one.unicode_name
      ),
  },
  {
    name: 'here',
    title: 'Here',
    render: one => {
      const outcome = taken.get(one.name)
      return (
        <span className="inline-flex items-center gap-1.5" title={outcome?.problem ?? undefined}>
          {outcome?.problem ? (
            <>
              <StatusIcon state="failed" /> <span className="text-bad">{outcome.problem}</span>
            </>
          ) : one.zone_id ? (
            <>
              <StatusIcon state="ok" /> kept here
            </>
          ) : (
            <span className="text-muted">not yet</span>
          )}
        </span>
      )
    },
  },
]
