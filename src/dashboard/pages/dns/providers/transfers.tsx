import { ArrowDownUp } from 'lucide-react'
import type { ZoneTransferView } from '../../../../features/dns/transfers/shapes'
import { Empty } from '../../../parts/empty'
import { Card } from '../../../parts/page'
import { Table, requestedList, type Column } from '../../../parts/table'
import { useOne } from '../../../queries'
import { transferColumns, type BuiltinProps } from '../transfer-columns'

/** Last zone transfer per server. */
export function Transfers({ server, keys }: BuiltinProps) {
  const found = useOne<{ data: ZoneTransferView[]; truncated: boolean }>(
    '/dns/providers/builtin/transfers',
    {},
    { refetchMs: 15_000 },
  )
  const columns: readonly Column<ZoneTransferView>[] = [
    { title: 'Zone', look: 'strong', render: one => one.zone },
    ...transferColumns({ server, keys }, one => one.serial),
  ]
  return (
    <Card title="Zone transfers" className="lg:col-span-2">
      <Table
        label="Zone transfers"
        columns={columns}
        list={requestedList(found, found.data?.data)}
        idOf={one => `${one.zone} ${one.address} ${one.tsig_key_id}`}
        empty={
          <Empty icon={ArrowDownUp} title="No transfers yet">
            The latest transfer of each zone to each server in the last 90 days is shown here.
          </Empty>
        }
      />
      {found.data?.truncated && <p className="mt-2 text-muted">Only the latest 1,000 transfers are shown.</p>}
    </Card>
  )
}
