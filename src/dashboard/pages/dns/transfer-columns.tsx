import type { BuiltinProviderView, TsigKeyView, ZoneTransferView } from '../../../features/dns/transfers/shapes'
import type { Column } from '../../parts/table'
import { humanize } from '../../parts/status'
import { RelativeTime } from '../../parts/time'

const types = { axfr: 'Full (AXFR)', ixfr: 'Incremental (IXFR)', up_to_date: 'No changes' } as const

/** The built-in name server and the keys of the workspace, for its parts. */
export interface BuiltinProps {
  server: BuiltinProviderView
  keys: readonly TsigKeyView[]
}

/** Columns of the zone transfers. @param serial what to show next to the serial */
export const transferColumns = (
  { server, keys }: BuiltinProps,
  serial: Column<ZoneTransferView>['render'],
): readonly Column<ZoneTransferView>[] => [
  {
    title: 'Server',
    render: one => (
      <>
        {server.secondaries.find(other => other.id === one.secondary_id)?.name}{' '}
        <code className="font-mono text-[13px] text-muted">{one.address}</code>
      </>
    ),
  },
  {
    title: 'Key',
    showFrom: 'md',
    look: 'mono',
    render: one => keys.find(other => other.id === one.tsig_key_id)?.name ?? one.tsig_key_id,
  },
  { title: 'Serial', render: serial },
  { title: 'Type', width: '10rem', showFrom: 'md', render: one => types[one.type] ?? humanize(one.type) },
  { title: 'Transferred', width: '8rem', render: one => <RelativeTime at={one.transferred_at} /> },
]
