import { ArrowDownUp } from 'lucide-react'
import type { BuiltinProviderView, TsigKeyView, ZoneTransferView } from '../../../../features/dns/transfers/shapes'
import { Empty } from '../../../parts/empty'
import { Card } from '../../../parts/page'
import { Problem } from '../../../parts/problem'
import { Tag } from '../../../parts/status'
import { Table, wholeList, type Column } from '../../../parts/table'
import { Ago } from '../../../parts/time'
import { useOne } from '../../../queries'

interface TransfersProps {
  server: BuiltinProviderView
  keys: readonly TsigKeyView[]
}

/** Who got which zone last, and how. */
export function Transfers({ server, keys }: TransfersProps) {
  const found = useOne<{ data: ZoneTransferView[]; truncated: boolean }>(
    '/dns/providers/builtin/transfers',
    {},
    { everyMs: 15_000 },
  )
  const columns: readonly Column<ZoneTransferView>[] = [
    { name: 'zone', title: 'Zone', render: one => <span className="font-medium">{one.zone}</span> },
    {
      name: 'to',
      title: 'To',
      render: one => server.secondaries.find(other => other.id === one.secondary_id)?.name || one.address,
    },
    {
      name: 'key',
      title: 'Key',
      from: 'md',
      render: one => (
        <code className="font-mono text-[13px]">{keys.find(other => other.id === one.tsig_key_id)?.name ?? one.tsig_key_id}</code>
      ),
    },
    { name: 'serial', title: 'Serial', width: '8rem', right: true, from: 'sm', render: one => one.serial },
    { name: 'how', title: 'How', width: '7rem', from: 'sm', render: one => <Tag>{one.how}</Tag> },
    { name: 'at', title: 'When', width: '8rem', render: one => <Ago at={one.at} /> },
  ]
  return (
    <Card title="Transfers" className="lg:col-span-2">
      {found.error ? (
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      ) : (
        <Table
          label="Transfers"
          columns={columns}
          list={wholeList(found.data?.data ?? [], found.isPending)}
          idOf={one => `${one.zone} ${one.address} ${one.tsig_key_id}`}
          empty={
            <Empty icon={ArrowDownUp} title="No transfers">
              The last transfer of each zone to each server within 90 days is told here.
            </Empty>
          }
        />
      )}
      {found.data?.truncated && <p className="mt-2 text-muted">There are more than these.</p>}
    </Card>
  )
}
