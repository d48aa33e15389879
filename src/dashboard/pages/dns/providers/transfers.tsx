import { ArrowDownUp } from 'lucide-react'
import type { BuiltinProviderView, TsigKeyView, ZoneTransferView } from '../../../../features/dns/transfers/shapes'
import { Empty } from '../../../parts/empty'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { Tag } from '../../../parts/status'
import { Table, staticList, type Column } from '../../../parts/table'
import { RelativeTime } from '../../../parts/time'
import { useOne } from '../../../queries'

interface TransfersProps {
  server: BuiltinProviderView
  keys: readonly TsigKeyView[]
}

/** Last zone transfer per server. */
export function Transfers({ server, keys }: TransfersProps) {
  const found = useOne<{ data: ZoneTransferView[]; truncated: boolean }>(
    '/dns/providers/builtin/transfers',
    {},
    { refetchMs: 15_000 },
  )
  const columns: readonly Column<ZoneTransferView>[] = [
    { title: 'Zone', render: one => <span className="font-medium">{one.zone}</span> },
    { title: 'Server', render: one => server.secondaries.find(other => other.id === one.secondary_id)?.name || one.address },
    {
      title: 'Key',
      showFrom: 'md',
      render: one => (
        <code className="font-mono text-[13px]">{keys.find(other => other.id === one.tsig_key_id)?.name ?? one.tsig_key_id}</code>
      ),
    },
    { title: 'Serial', width: '8rem', alignRight: true, showFrom: 'sm', render: one => one.serial },
    { title: 'Type', width: '7rem', showFrom: 'sm', render: one => <Tag>{one.type}</Tag> },
    { title: 'Transferred', width: '8rem', render: one => <RelativeTime at={one.transferred_at} /> },
  ]
  return (
    <Card title="Transfers" className="lg:col-span-2">
      {found.error ? (
        <Problem error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Table
          label="Transfers"
          columns={columns}
          list={staticList(found.data?.data ?? [], found.isPending)}
          idOf={one => `${one.zone} ${one.address} ${one.tsig_key_id}`}
          empty={
            <Empty icon={ArrowDownUp} title="No transfers yet">
              The latest transfer of each zone to each server in the last 90 days is shown here.
            </Empty>
          }
        />
      )}
      {found.data?.truncated && <p className="mt-2 text-muted">Only the latest 1,000 transfers are shown.</p>}
    </Card>
  )
}
