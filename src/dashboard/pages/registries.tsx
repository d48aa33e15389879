import { Landmark } from 'lucide-react'
import type { RegistrySourceView, RegistryView } from '../../features/registry/shapes'
import { ListPage, type TableColumns } from '../parts/list'
import { Facts } from '../parts/page'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'

const columns: TableColumns<RegistryView> = [
  { title: 'Top-level domain', look: 'strong', render: one => `.${one.unicode_tld}` },
  { title: 'Status', width: '9rem', onPhone: 'corner', render: one => <SourceStatus source={one.sources[0]} /> },
  { title: 'Server', width: '34cqw', look: 'mono', onPhone: 'line', render: one => one.sources[0]?.host ?? 'None' },
  { title: 'Protocol', width: '8rem', showFrom: 'lg', render: protocolsOf },
  { title: 'Watched', width: '8rem', showFrom: 'md', render: one => pluralize(one.watched_names, 'name', 'names') },
]

/** Where facts about domains come from. */
export default function Registries() {
  return (
    <ListPage
      label="Registries"
      description="The servers that report when domains expire. Facts about domains are public, and shared by all workspaces of the installation."
      path="/registries"
      columns={columns}
      idOf={one => one.tld}
      search={{ label: 'Search TLDs', name: 'q' }}
      filters={[
        {
          name: 'watched',
          label: 'Domains',
          all: 'All TLDs',
          initial: 'true',
          choices: { true: 'Watched', false: 'Not watched' },
        },
      ]}
      details={one => ({ title: `.${one.unicode_tld}`, content: <Details registry={one} /> })}
      empty={{
        icon: Landmark,
        title: 'No domains are watched',
        text: 'Add the condition [DOMAIN_EXPIRATION] < 30d to a monitor to be warned before its domain expires.',
      }}
    />
  )
}

const SourceStatus = ({ source }: { source: RegistrySourceView | undefined }) =>
  source ? <Status status={source.state} /> : 'Unsupported'

function protocolsOf({ sources }: RegistryView): string {
  return sources.map(one => one.kind.toUpperCase()).join(', ')
}

const Details = ({ registry: { sources, profile } }: { registry: RegistryView }) => (
  <div className="flex flex-col gap-6">
    {sources.map(source => (
      <section key={source.host} aria-label={source.host}>
        <Facts
          rows={[
            ['Server', `${source.host} (${source.kind.toUpperCase()})`],
            ['Status', <SourceStatus key="" source={source} />],
            ['Listed by', originLabels[source.origin]],
            source.blocked_until !== null ? ['Blocked until', <RelativeTime key="" at={source.blocked_until} />] : null,
            ['Last error', source.last_error],
            ['Last response', <RelativeTime key="" at={source.last_ok_at} />],
            ['Canary', source.canary.name],
            ['Canary confirmed', <RelativeTime key="" at={source.canary.ok_at} fallback="Not confirmed" />],
            ['Pace', paceText(source)],
            ['Queries today', `${source.pace.used_today} of ${source.pace.per_day}`],
            source.stretched_by > 1 ? ['Intervals', `${source.stretched_by} times as long as wanted`] : null,
          ]}
        />
      </section>
    ))}
    <section aria-label="Life cycle">
      <h3 className="mb-2 font-medium">After a registration ends</h3>
      {profile === null ? (
        <p className="text-muted">The rules of this registry are not known.</p>
      ) : (
        <Facts
          rows={[
            ['Renewal grace period', days(profile.renewal_grace_days)],
            ['Redemption period', days(profile.redemption_days)],
            ['Pending delete', days(profile.pending_delete_days)],
            ['Note', profile.note],
            ['Source', profile.source],
          ]}
        />
      )}
    </section>
  </div>
)

const originLabels = { iana: 'IANA', extra: 'Bailiwick', operator: 'The operator' } as const

const days = (count: number | null): string | null => (count === null ? null : pluralize(count, 'day', 'days'))

const paceText = ({ pace: { seconds, burst } }: RegistrySourceView): string =>
  `1 query in ${seconds} s${burst > 1 ? `, up to ${burst} at once` : ''}`
