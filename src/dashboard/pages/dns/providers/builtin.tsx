import { Link } from '@tanstack/react-router'
import type { BuiltinProviderView, TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { Card, Facts, Loaded, Page } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { useList, useOne } from '../../../queries'
import { BuiltinRights } from './builtin-rights'
import { Secondaries } from './secondaries'
import { Transfers } from './transfers'
import { TsigKeys } from './tsig-keys'

const up = { to: '/dns/providers', label: 'Providers' }

/** The name server inside the hub: to whom it gives the zones of the workspace. */
export default function Builtin() {
  const found = useOne<BuiltinProviderView>('/dns/providers/builtin', {}, { everyMs: 15_000 })
  const keys = useList<TsigKeyView>('/dns/providers/builtin/tsig-keys')
  return (
    <Loaded found={found} up={up}>
      {server => (
        <Page
          title="Built-in name server"
          up={up}
          aside={server.listen ? <Status state="ok" label="listens" /> : <Status state="disabled" mood="idle" label="off" />}
          lead="Answers for the zones that are served here, and gives them to secondaries of yours."
        >
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <Card title="Where it answers">
              {server.listen ? (
                <Facts
                  rows={[
                    ['Address', <code className="font-mono text-[13px]">{server.listen.host}</code>],
                    ['Port', `${server.listen.port}, UDP and TCP`],
                    [
                      'Zones',
                      <Link to="/dns" className="text-accent hover:underline">
                        those that are served here
                      </Link>,
                    ],
                  ]}
                />
              ) : (
                <p className="text-muted">
                  It is off on this hub.{' '}
                  <a className="text-accent underline" href="/docs/settings#bailiwick_dns_listen">
                    BAILIWICK_DNS_LISTEN
                  </a>{' '}
                  turns it on.
                </p>
              )}
              {server.warnings.map(one => (
                <p key={one} className="mt-3 rounded-md bg-warn-soft p-3 text-warn">
                  {one}
                </p>
              ))}
            </Card>
            <BuiltinRights key={server.version} server={server} keys={keys.rows} />
            <Secondaries server={server} keys={keys.rows} />
            <TsigKeys list={keys} />
            <Transfers server={server} keys={keys.rows} />
          </div>
        </Page>
      )}
    </Loaded>
  )
}
