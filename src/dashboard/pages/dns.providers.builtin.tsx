import { Link } from '@tanstack/react-router'
import type { BuiltinProviderView, TsigKeyView } from '../../features/dns/transfers/shapes'
import { Mono } from '../parts/code'
import { Card, Facts, Loaded, Page } from '../parts/page'
import { Status } from '../parts/status'
import { useList, useOne } from '../queries'
import { TransferSettings } from './dns/providers/transfer-settings'
import { Secondaries } from './dns/providers/secondaries'
import { Transfers } from './dns/providers/transfers'
import { TsigKeys } from './dns/providers/tsig-keys'

/** The built-in name server, and its zone transfer settings. */
export default function Builtin() {
  const found = useOne<BuiltinProviderView>('/dns/providers/builtin', {}, { refetchMs: 15_000 })
  const keys = useList<TsigKeyView>('/dns/providers/builtin/tsig-keys')
  return (
    <Loaded query={found} parent="/dns/providers">
      {server => (
        <Page
          parent="/dns/providers"
          aside={
            server.listen ? <Status status="ok" label="listening" /> : <Status status="disabled" tone="idle" label="disabled" />
          }
          description="Answers DNS queries for your zones, and transfers the zones to your secondaries."
        >
          <div className="grid items-start gap-4 lg:grid-cols-2">
            <Card title="Listen address">
              {server.listen ? (
                <Facts
                  rows={[
                    ['Address', <Mono>{server.listen.host}</Mono>],
                    ['Port', `${server.listen.port}, UDP and TCP`],
                    [
                      'Zones',
                      <Link to="/dns" className="text-accent hover:underline">
                        View zones
                      </Link>,
                    ],
                  ]}
                />
              ) : (
                <p className="text-muted">
                  The name server is disabled on this hub. Set{' '}
                  <a className="text-accent underline" href="/docs/settings#bailiwick_dns_listen">
                    BAILIWICK_DNS_LISTEN
                  </a>{' '}
                  to enable it.
                </p>
              )}
              {server.warnings.map(one => (
                <p key={one} className="mt-3 rounded-md bg-warn-soft p-3 text-warn">
                  {one}
                </p>
              ))}
            </Card>
            <TransferSettings key={server.version} server={server} keys={keys.rows} />
            <Secondaries server={server} keys={keys.rows} />
            <TsigKeys list={keys} />
            <Transfers server={server} keys={keys.rows} />
          </div>
        </Page>
      )}
    </Loaded>
  )
}
