import type { DynamicIpView } from '../../features/dynamic-ips/shapes'
import { CopyableText, Mono } from '../parts/code'
import { Disclosure } from '../parts/disclosure'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Status, Tags } from '../parts/status'
import { ElapsedTime, formatDuration, RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { ClientConfigs } from './dynamic-ips/client-configs'
import { ClientFacts } from './dynamic-ips/client-facts'
import { FirewallLinks } from './dynamic-ips/firewall-links'
import { Hosts } from './dynamic-ips/hosts'
import { Reports } from './dynamic-ips/reports'
import { invalidates, SourceActions } from './dynamic-ips/source-actions'
import { familyLabels, refetchMs, statusText, toneOfSource } from './dynamic-ips/source-text'
import { Token } from './dynamic-ips/token'

/** The page of a dynamic IP source: its addresses, hosts, token, and reports. */
export default resourcePage({ path: '/dynamic-ips', parent: '/dynamic-ips', refetchMs }, Details)

function Details({ resource: source }: { resource: DynamicIpView }) {
  const { status } = source
  const needsAttention = status === 'held' || status === 'stale'
  return (
    <Page
      title={source.name}
      parent="/dynamic-ips"
      aside={<Status status={status} tone={toneOfSource(status)} />}
      description={needsAttention ? undefined : statusText(source)}
      actions={<SourceActions source={source} />}
    >
      {needsAttention && <Attention source={source} />}
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr] lg:items-start">
        <div className="flex min-w-0 flex-col gap-4">
          <Card
            title="Addresses"
            facts={[
              ['IPv4 address', source.ipv4 && <CopyableText text={source.ipv4} label="IPv4 address" />],
              ['IPv6 address', source.ipv6 && <CopyableText text={source.ipv6} label="IPv6 address" />],
              ['IPv6 prefix', source.prefix6 && <CopyableText text={source.prefix6} label="IPv6 prefix" />],
              ['Last changed', <RelativeTime at={source.last_changed_at} />],
              ['Last report', <RelativeTime at={source.last_seen_at} />],
            ]}
          />
          <Hosts source={source} />
          <Card title="Client configuration">
            <Disclosure open={status === 'new'} summary="Configure your router or client">
              <p className="mt-2 mb-3 text-muted">
                Replace <Mono>{'{{TOKEN}}'}</Mono> with the token of this source. If you don’t have it, rotate the token.
              </p>
              <ClientConfigs id={source.id} />
            </Disclosure>
          </Card>
          <FirewallLinks source={source} />
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
          {source.last_client && (
            <Card title="Last client">
              <ClientFacts client={source.last_client} />
            </Card>
          )}
          <Token source={source} />
          <Card
            title="Details"
            facts={[
              ['IP versions', source.families.map(one => familyLabels[one]).join(' and ')],
              ['TTL', formatDuration(source.ttl * 1000)],
              ['Stale after', source.stale_after_seconds === null ? 'Never' : formatDuration(source.stale_after_seconds * 1000)],
              ['Derived prefix', source.prefix_from_ipv6 === null ? null : `/${source.prefix_from_ipv6} of the IPv6 address`],
              ['Private addresses', source.allow_private ? 'Allowed' : 'Refused'],
              ['HTTPS', source.require_https ? 'Required' : 'Not required'],
              ['Allowed client addresses', source.allowed_cidrs.length > 0 ? source.allowed_cidrs.join(', ') : 'Any'],
              ['Tags', source.tags.length > 0 && <Tags tags={source.tags} />],
              ['Notes', source.description === '' ? null : <span className="whitespace-pre-wrap">{source.description}</span>],
              ['Created', <RelativeTime at={source.created_at} />],
              ['ID', <CopyableText text={source.id} />],
            ]}
          />
        </div>
        {/* Last, because the list loads more while scrolling. */}
        <Reports id={source.id} />
      </div>
    </Page>
  )
}

/** Why a source is held or stale, and how to end it. */
function Attention({ source }: { source: DynamicIpView }) {
  const { canWrite } = usePerson()
  const { id, name, status, status_reason: hold } = source
  return (
    <div
      role="note"
      className={`mb-4 flex flex-wrap items-center gap-3 rounded-lg border border-line p-4 ${status === 'held' ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`}
    >
      <p className="min-w-0 grow basis-60 wrap-anywhere">
        {statusText(source)}{' '}
        {hold ? (
          <>
            Held for <ElapsedTime at={hold.since_at} />.
          </>
        ) : (
          <>
            Last report: <RelativeTime at={source.last_seen_at} />.
          </>
        )}
      </p>
      {status === 'held' && canWrite && (
        <SendButton call={{ method: 'POST', path: `/dynamic-ips/${id}/resume` }} send={{ toast: `${name} resumed`, invalidates }}>
          Resume
        </SendButton>
      )}
    </div>
  )
}
