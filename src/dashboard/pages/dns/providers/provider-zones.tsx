import { Link } from '@tanstack/react-router'
import { Globe } from 'lucide-react'
import type { DnsProviderView, DnsProviderZoneView } from '../../../../features/dns/accounts/shapes'
import { Button } from '../../../parts/button'
import { List, type Column } from '../../../parts/list'
import { Card } from '../../../parts/page'
import { StatusIcon } from '../../../parts/status'
import { usePerson } from '../../../session'
import { useZoneImport, type ImportOutcomes } from './import-zones'

/** Zones that currently exist at a provider, which can be imported. */
export function ProviderZones({ provider }: { provider: DnsProviderView }) {
  const { canWrite } = usePerson()
  const { importZones, outcomes, isPending } = useZoneImport(provider.id)
  if (provider.state !== 'ok') return null
  const importButton = (rows: readonly DnsProviderZoneView[], clear: () => void) => {
    const free = rows.filter(one => one.zone_id === null)
    return (
      free.length > 0 && (
        <Button small kind="primary" disabled={isPending} onClick={() => void importZones(free.map(one => one.name)).then(clear)}>
          {isPending ? 'Importing…' : `Import ${free.length === 1 ? free[0]!.unicode_name : `${free.length} zones`}`}
        </Button>
      )
    )
  }
  return (
    <Card title="Zones at this provider" className="lg:col-span-2">
      <p className="mb-3 text-muted">
        Importing a zone reads its records and changes nothing at the provider. After that, you manage the zone here, and external
        changes are reported as drift.
      </p>
      <List
        label="Zones"
        path={`/dns/providers/${provider.id}/zones`}
        columns={columns(outcomes)}
        idOf={one => one.name}
        search
        query={({ q = '' }) => ({ q: q.toLowerCase() })}
        bulk={canWrite ? importButton : undefined}
        empty={{ icon: Globe, title: 'No zones' }}
      />
    </Card>
  )
}

const columns = (outcomes: ImportOutcomes): readonly Column<DnsProviderZoneView>[] => [
  {
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
    title: 'Status',
    render: one => {
      const outcome = outcomes.get(one.name)
      return (
        <span className="inline-flex items-center gap-1.5" title={outcome?.problem ?? undefined}>
          {outcome?.problem ? (
            <>
              <StatusIcon status="failed" /> <span className="text-bad">{outcome.problem}</span>
            </>
          ) : one.zone_id ? (
            <>
              <StatusIcon status="ok" /> imported
            </>
          ) : (
            <span className="text-muted">not imported</span>
          )}
        </span>
      )
    },
  },
]
