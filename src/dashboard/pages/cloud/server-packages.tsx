import { useState } from 'react'
import type { ServerPackagesView } from '../../../features/servers/agents/inventory-shapes'
import { Button } from '../../parts/button'
import { SearchField } from '../../parts/filters'
import { Card } from '../../parts/page'
import { pluralize } from '../../parts/plural'
import { requestedList, Table, type Column } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'

type Package = ServerPackagesView['packages'][number]

const columns: readonly Column<Package>[] = [
  { title: 'Package', render: one => <span className="wrap-anywhere">{one.name}</span> },
  { title: 'Version', onPhone: 'plain', look: 'muted', render: one => <span className="wrap-anywhere">{one.version}</span> },
]

const shownRows = 20

/** The packages that are installed on a server. They are only loaded when someone wants to see them. */
export function ServerPackages({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false)
  const [q, setQ] = useState('')
  const found = useOne<ServerPackagesView>(isOpen ? `/servers/${id}/packages` : null, q === '' ? {} : { q }, {
    refetchMs: 60_000,
    keepPrevious: true,
  })
  const { packages = [], reason = null, total = 0, reported_at: reportedAt } = found.data ?? {}
  return (
    <Card
      title="Packages"
      flush
      actions={
        <Button small onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide packages' : 'Show packages'}
        </Button>
      }
    >
      {!isOpen ? (
        <p className="p-4 text-[13px] text-muted">Installed packages and their versions.</p>
      ) : reason !== null ? (
        <p className="p-4 text-[13px] text-muted">{reason}</p>
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2 p-4">
            <SearchField label="Search packages" value={q} onChange={setQ} />
            {reportedAt && (
              <span className="text-[13px] text-muted">
                {pluralize(total, 'package', 'packages')}, reported <RelativeTime at={reportedAt} />
              </span>
            )}
          </div>
          <Table
            label="Packages"
            columns={columns}
            list={requestedList(found, packages.slice(0, shownRows))}
            idOf={one => one.name}
            empty="No matching packages."
          />
          {packages.length > shownRows && (
            <p className="border-t border-line p-4 text-[13px] text-muted">
              {`The first ${shownRows} of ${packages.length.toLocaleString()} are shown. Search to find others.`}
            </p>
          )}
        </>
      )}
    </Card>
  )
}
