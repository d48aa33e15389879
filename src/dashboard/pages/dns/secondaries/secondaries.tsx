import { Link } from '@tanstack/react-router'
import { ServerCog } from 'lucide-react'
import type { BuiltinProviderView, TsigKeyView, ZoneTransferView } from '../../../../features/dns/transfers/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { useUrlState } from '../../../parts/url-state'
import { UrlFilter } from '../../../parts/filters'
import { Code } from '../../../parts/code'
import { Empty } from '../../../parts/empty'
import { Card, Loaded } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { Table, staticList } from '../../../parts/table'
import { RelativeTime } from '../../../parts/time'
import { useOne } from '../../../queries'
import { transferColumns, type BuiltinProps } from '../transfer-columns'
import { ZoneFrame } from '../zone-frame'
import { snippets } from './snippets'

const builtin = '/dns/providers/builtin'
const watchMs = 10_000

/** Name servers that transfer a zone from this hub: whether they are up to date, and how to set up more. */
export default function Secondaries({ zone }: { zone: ZoneView }) {
  const found = useOne<BuiltinProviderView>(builtin, {}, { refetchMs: watchMs })
  const keys = useOne<{ data: TsigKeyView[] }>(`${builtin}/tsig-keys`, { limit: 100 }).data?.data ?? []
  const transfers = useOne<{ data: ZoneTransferView[] }>(`${builtin}/transfers`, { zone: zone.name }, { refetchMs: watchMs }).data
    ?.data
  return (
    <Loaded query={found} parent="/dns">
      {server => (
        <ZoneFrame zone={zone}>
          <div className="flex flex-col gap-4">
            <Transfers zone={zone} transfers={transfers ?? []} keys={keys} server={server} />
            <NotifiedSecondaries server={server} />
            <Snippets zone={zone} server={server} keys={keys} />
          </div>
        </ZoneFrame>
      )}
    </Loaded>
  )
}

interface TransfersProps extends BuiltinProps {
  zone: ZoneView
  transfers: readonly ZoneTransferView[]
}

const Transfers = ({ zone, transfers, keys, server }: TransfersProps) => (
  <Card title="Zone transfers" flush>
    <Table
      label="Zone transfers"
      columns={transferColumns({ server, keys }, one => (
        <>
          {one.serial}{' '}
          {one.serial === zone.serial ? (
            <Status status="synced" label="up to date" />
          ) : (
            <Status status="late" label={`behind (current: ${zone.serial})`} />
          )}
        </>
      ))}
      list={staticList(transfers)}
      idOf={one => `${one.address} ${one.tsig_key_id}`}
      empty={
        <Empty icon={ServerCog} title="No transfers yet">
          Set up a secondary as shown below. It is listed here after its first transfer.
        </Empty>
      }
    />
  </Card>
)

const NotifiedSecondaries = ({ server }: { server: BuiltinProviderView }) => (
  <Card
    title="Secondaries to notify"
    actions={
      <Link to="/dns/providers/builtin" className="text-[13px] text-accent hover:underline">
        Manage secondaries and keys
      </Link>
    }
  >
    {server.warnings.map(one => (
      <p key={one} className="mb-2 text-warn">
        {one}
      </p>
    ))}
    {server.secondaries.length === 0 ? (
      <p className="text-muted">None yet. Secondaries that aren’t notified check for changes at the SOA refresh interval.</p>
    ) : (
      <ul className="divide-y divide-line">
        {server.secondaries.map(one => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 first:pt-0 last:pb-0">
            <span className="font-medium">{one.name}</span>
            <code className="font-mono text-[13px] text-muted">
              {one.address}:{one.port}
            </code>
            {one.error ? (
              <Status status="failing" label={one.error} />
            ) : (
              <span className="text-[13px] text-muted">
                Last notified <RelativeTime at={one.notified_at} fallback="never" />, last response{' '}
                <RelativeTime at={one.acknowledged_at} fallback="never" />
              </span>
            )}
          </li>
        ))}
      </ul>
    )}
  </Card>
)

function Snippets({ zone, server, keys }: BuiltinProps & { zone: ZoneView }) {
  const [{ software, key: selected }] = useUrlState({ software: 'bind', key: '' })
  const snippet = snippets.find(one => one.name === software) ?? snippets[0]!
  const key = keys.find(one => one.id === selected) ?? keys[0]
  const { listen } = server
  // If the server listens on all addresses, use the one of this page, since name server configurations need an IP address.
  const isAny = listen === null || /^(0\.0\.0\.0|::|127\..*|::1|localhost)$/.test(listen.host)
  const pageHost = location.hostname.replace(/^\[|\]$/g, '')
  const own = /^[\d.]+$|:/.test(pageHost) ? pageHost : 'ADDRESS'
  const text = snippet.text({
    zone: zone.name,
    host: isAny ? own : listen.host,
    port: listen?.port ?? 53,
    key: key?.name ?? 'transfer.example.com',
    algorithm: key?.algorithm ?? 'hmac-sha256',
  })
  return (
    <Card
      title="Set up a secondary"
      actions={
        <>
          {keys.length > 1 && (
            <UrlFilter name="key" label="Key" initial={keys[0]!.id} choices={keys.map(one => [one.id, one.name] as const)} />
          )}
          <UrlFilter
            name="software"
            label="Software"
            initial={snippets[0]!.name}
            choices={snippets.map(one => [one.name, one.label] as const)}
          />
        </>
      }
    >
      {listen === null && (
        <p className="mb-3 text-warn">The built-in name server is disabled on this hub, so zones can’t be transferred.</p>
      )}
      {keys.length === 0 && (
        <p className="mb-3 text-warn">
          Zone transfers need a TSIG key.{' '}
          <Link to="/dns/providers/builtin" className="underline">
            Create one
          </Link>{' '}
          first. Its secret is shown only once.
        </p>
      )}
      <Code text={text} label={snippet.file} />
      <p className="mt-3 text-[13px] text-muted">
        Replace SECRET with the secret of the key{own === 'ADDRESS' && isAny && ', and ADDRESS with the address of this hub'}. To
        set up all zones at once, use{' '}
        <a href="/docs/dns-secondaries" className="text-accent underline">
          a catalog zone
        </a>
        .
      </p>
    </Card>
  )
}
