import { Link } from '@tanstack/react-router'
import { ServerCog } from 'lucide-react'
import type { BuiltinProviderView, TsigKeyView, ZoneTransferView } from '../../../../features/dns/transfers/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { useAddress } from '../../../parts/address'
import { Choice } from '../../../parts/filters'
import { Code } from '../../../parts/code'
import { Empty } from '../../../parts/empty'
import { Card, Loaded } from '../../../parts/page'
import { Status, wordsOf } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useOne } from '../../../queries'
import { ZoneFrame } from '../zone-frame'
import { snippets } from './snippets'

const builtin = '/dns/providers/builtin'
const watchMs = 10_000

/** The name servers that transfer a zone from this hub: whether they have it as it is now, and how more of them are set up. */
export default function Secondaries({ zone }: { zone: ZoneView }) {
  const found = useOne<BuiltinProviderView>(builtin, {}, { everyMs: watchMs })
  const keys = useOne<{ data: TsigKeyView[] }>(`${builtin}/tsig-keys`, { limit: 100 }).data?.data ?? []
  const transfers = useOne<{ data: ZoneTransferView[] }>(`${builtin}/transfers`, { zone: zone.name }, { everyMs: watchMs }).data
    ?.data
  return (
    <Loaded found={found} up={{ to: '/dns', label: 'Zones' }}>
      {server => (
        <ZoneFrame zone={zone}>
          <div className="flex flex-col gap-4">
            <Transfers zone={zone} transfers={transfers ?? []} keys={keys} server={server} />
            <Told server={server} />
            <Snippets zone={zone} server={server} keys={keys} />
          </div>
        </ZoneFrame>
      )}
    </Loaded>
  )
}

interface TransfersProps {
  zone: ZoneView
  transfers: readonly ZoneTransferView[]
  keys: readonly TsigKeyView[]
  server: BuiltinProviderView
}

const how = { axfr: 'whole', ixfr: 'changes alone', current: 'had it already' } as const

function Transfers({ zone, transfers, keys, server }: TransfersProps) {
  return (
    <Card title="Who has it" flush>
      {transfers.length === 0 ? (
        <Empty icon={ServerCog} title="Nobody has transferred it">
          Set a secondary up as below; it is listed here once it has the zone.
        </Empty>
      ) : (
        <div tabIndex={0} role="region" aria-label="Transfers" className="overflow-x-auto">
          <table className="w-full">
            <thead>
              <tr className="text-left text-[13px] text-muted">
                {['Server', 'Key', 'Serial', 'How', 'When'].map(title => (
                  <th key={title} scope="col" className="border-b border-line px-4 py-2 font-medium whitespace-nowrap">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {transfers.map(one => (
                <tr key={`${one.address} ${one.tsig_key_id}`}>
                  <td className="px-4 py-2">
                    {server.secondaries.find(known => known.id === one.secondary_id)?.name}{' '}
                    <code className="font-mono text-[13px] text-muted">{one.address}</code>
                  </td>
                  <td className="px-4 py-2">{keys.find(key => key.id === one.tsig_key_id)?.name ?? one.tsig_key_id}</td>
                  <td className="px-4 py-2 whitespace-nowrap">
                    {one.serial}{' '}
                    {one.serial === zone.serial ? (
                      <Status state="synced" label="in step" />
                    ) : (
                      <Status state="late" label={`behind ${zone.serial}`} />
                    )}
                  </td>
                  <td className="px-4 py-2 whitespace-nowrap">{how[one.how] ?? wordsOf(one.how)}</td>
                  <td className="px-4 py-2">
                    <Ago at={one.at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}

function Told({ server }: { server: BuiltinProviderView }) {
  return (
    <Card
      title="Who is told of changes"
      actions={
        <Link to="/dns/providers/builtin" className="text-[13px] text-accent hover:underline">
          Secondaries and keys
        </Link>
      }
    >
      {server.warnings.map(one => (
        <p key={one} className="mb-2 text-warn">
          {one}
        </p>
      ))}
      {server.secondaries.length === 0 ? (
        <p className="text-muted">Nobody. Secondaries ask by themselves as often as the SOA says.</p>
      ) : (
        <ul className="divide-y divide-line">
          {server.secondaries.map(one => (
            <li key={one.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 first:pt-0 last:pb-0">
              <span className="font-medium">{one.name}</span>
              <code className="font-mono text-[13px] text-muted">
                {one.address}:{one.port}
              </code>
              {one.problem ? (
                <Status state="failing" label={one.problem} />
              ) : (
                <span className="text-[13px] text-muted">
                  told <Ago at={one.notified_at} />, answered <Ago at={one.answered_at} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

interface SnippetsProps {
  zone: ZoneView
  server: BuiltinProviderView
  keys: readonly TsigKeyView[]
}

function Snippets({ zone, server, keys }: SnippetsProps) {
  const [{ software, key: chosen }, set] = useAddress({ software: 'bind', key: '' })
  const snippet = snippets.find(one => one.name === software) ?? snippets[0]!
  const key = keys.find(one => one.id === chosen) ?? keys[0]
  const { listen } = server
  // What listens on all addresses is reached at the one this page was. Configurations of name servers take no names.
  const isAny = listen === null || /^(0\.0\.0\.0|::|127\..*|::1|localhost)$/.test(listen.host)
  const reached = location.hostname.replace(/^\[|\]$/g, '')
  const own = /^[\d.]+$|:/.test(reached) ? reached : 'ADDRESS'
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
            <Choice
              label="Key"
              value={key!.id}
              onChange={value => set({ key: value })}
              choices={keys.map(one => [one.id, one.name] as const)}
            />
          )}
          <Choice
            label="Software"
            value={snippet.name}
            onChange={value => set({ software: value })}
            choices={snippets.map(one => [one.name, one.label] as const)}
          />
        </>
      }
    >
      {listen === null && <p className="mb-3 text-warn">The name server of this hub is off: nobody can transfer from it.</p>}
      {keys.length === 0 && (
        <p className="mb-3 text-warn">
          There is no key yet.{' '}
          <Link to="/dns/providers/builtin" className="underline">
            Make one
          </Link>{' '}
          first: its secret is shown once.
        </p>
      )}
      <Code text={text} label={snippet.file} />
      <p className="mt-3 text-[13px] text-muted">
        SECRET is that of the key, as it was shown when it was made{own === 'ADDRESS' && isAny && ', ADDRESS that of this hub'}.
        For all zones at once there is{' '}
        <a href="/docs/dns-secondaries" className="text-accent underline">
          the catalog zone
        </a>
        .
      </p>
    </Card>
  )
}
