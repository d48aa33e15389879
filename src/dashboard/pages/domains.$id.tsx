import { RefreshCw } from 'lucide-react'
import type { DomainMoveView, DomainReadingView } from '../../features/domains/history-shapes'
import type { DomainView } from '../../features/domains/shapes'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { ListCard } from '../parts/list-card'
import { confirmDelete } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { capitalize, humanize, Status, Tags } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useList, useOne } from '../queries'
import { usePerson } from '../session'
import { editDomain, invalidates } from './domains/domain-fields'
import { DelegationStatus, DomainStatus, Expiry } from './domains/texts'

/** A domain: its registration, name servers, and what happens next. */
export default resourcePage<DomainView>(
  { path: '/domains', parent: '/domains', refetchMs: one => one.sync.state === 'pending' && 2000 },
  DomainPage,
)

function DomainPage({ resource: domain }: { resource: DomainView }) {
  const { canWrite } = usePerson()
  const path = `/domains/${domain.id}`
  return (
    <Page
      title={domain.unicode_name}
      parent="/domains"
      aside={<DomainStatus status={domain.status} />}
      actions={
        canWrite && (
          <>
            <SendButton
              icon={RefreshCw}
              call={{ method: 'POST', path: `${path}/refresh` }}
              send={{ toast: 'Lookup requested', invalidates }}
            >
              Refresh
            </SendButton>
            <Button onClick={() => editDomain(domain)}>Edit</Button>
            <Button
              kind="danger"
              onClick={() =>
                confirmDelete({
                  noun: 'domain',
                  name: domain.unicode_name,
                  path,
                  invalidates,
                  next: '/domains',
                  text: 'Its registration is not affected, but Bailiwick no longer tracks it. This can’t be undone.',
                })
              }
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Registration domain={domain} />
          <NameServers domain={domain} />
          <Sources id={domain.id} />
          <History id={domain.id} />
          {domain.notes !== '' && (
            <Card title="Notes">
              <p className="whitespace-pre-wrap wrap-anywhere">{domain.notes}</p>
            </Card>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <LifeCycle domain={domain} />
          <Card
            title="Details"
            facts={[
              ['Name', domain.name === domain.unicode_name ? null : domain.name],
              ['Tags', domain.tags.length > 0 && <Tags tags={domain.tags} />],
              ['Notifications', domain.notify_days && `${domain.notify_days.join(', ')} days before the end`],
              ['Created', <RelativeTime at={domain.created_at} />],
              ['ID', <CopyableText text={domain.id} />],
            ]}
          />
        </div>
      </div>
    </Page>
  )
}

const sourceLabels = {
  registrar: 'Registrar account',
  rdap: 'Registry (RDAP)',
  whois: 'Registry (WHOIS)',
  given: 'Entered manually',
}
const yesNo = (value: boolean | null): string | null => (value === null ? null : value ? 'Yes' : 'No')

const Registration = ({ domain }: { domain: DomainView }) => (
  <Card
    title="Registration"
    facts={[
      ['Expires', <Expiry domain={domain} />],
      ['Source', domain.expiry.source && `${sourceLabels[domain.expiry.source]}, ${domain.expiry.confidence}`],
      ['Note', domain.expiry.hint],
      ['Date at the registry', domain.expiry.registry_expires_at?.slice(0, 10)],
      ['Date at the registrar', domain.expiry.registrar_expires_at?.slice(0, 10)],
      ['Status since', <RelativeTime at={domain.status_since_at} />],
      ['Registry statuses', domain.epp_statuses.map(humanize).join(', ')],
      ['Registrar', domain.registrar?.name],
      ['Registered', domain.registered_at?.slice(0, 10)],
      ['Renews automatically', yesNo(domain.auto_renew)],
      ['Transfer lock', yesNo(domain.locked)],
      ['Privacy', yesNo(domain.privacy)],
      ['Last lookup', <RelativeTime at={domain.sync.checked_at} />],
      ['Next lookup', domain.sync.next_check_at && <RelativeTime at={domain.sync.next_check_at} />],
      ['Lookup error', domain.sync.error],
    ]}
  />
)

function NameServers({ domain: { nameservers, delegation } }: { domain: DomainView }) {
  return (
    <Card
      title="Name servers"
      actions={<DelegationStatus state={delegation.state} />}
      facts={[
        ['At the registry', nameservers.length > 0 ? <Names names={nameservers} /> : 'Unknown'],
        ['Missing', delegation.missing.length > 0 && <Names names={delegation.missing} />],
        ['Not expected', delegation.extra.length > 0 && <Names names={delegation.extra} />],
        ['Not answering', delegation.lame.length > 0 && <Names names={delegation.lame} />],
        ['Checked', delegation.checked_at && <RelativeTime at={delegation.checked_at} />],
      ]}
    />
  )
}

const Names = ({ names }: { names: readonly string[] }) => (
  <ul className="font-mono text-[13px] wrap-anywhere">
    {names.map(name => (
      <li key={name}>{name}</li>
    ))}
  </ul>
)

/** The last answer of each source. */
function Sources({ id }: { id: string }) {
  const { data } = useOne<{ data: DomainReadingView[] }>(`/domains/${id}/readings`)
  return (
    <ListCard title="Sources" rows={data?.data ?? []} keyOf={one => `${one.source} ${one.at}`} empty="Not looked up yet.">
      {one => (
        <div className="flex flex-wrap items-center gap-x-3">
          <span className="grow">
            {sourceLabels[one.source]}
            {one.facts?.expires_at && <span className="text-muted">, expires {one.facts.expires_at.slice(0, 10)}</span>}
          </span>
          <Status status={one.state} tone={readingTones[one.state]} />
          <RelativeTime at={one.at} />
          {one.detail !== null && <p className="w-full text-muted">{one.detail}</p>}
        </div>
      )}
    </ListCard>
  )
}

const readingTones = { found: 'ok', absent: 'bad', unknown: 'warn' } as const

/** Changes of the status. */
function History({ id }: { id: string }) {
  const moves = useList<DomainMoveView>(`/domains/${id}/history`, { limit: 20 })
  return (
    <ListCard title="Status history" rows={moves} empty="The status has not changed yet.">
      {one => (
        <div className="flex items-center gap-3">
          <span className="grow">
            {capitalize(humanize(one.from))} <span aria-hidden>→</span>
            <span className="sr-only">became</span> {humanize(one.to)}
            {one.irregular && <span className="text-warn"> (unusual)</span>}
          </span>
          <RelativeTime at={one.at} />
        </div>
      )}
    </ListCard>
  )
}

function LifeCycle({ domain: { lifecycle } }: { domain: DomainView }) {
  if (lifecycle === null) return null
  return (
    <Card
      title="If it is not renewed"
      facts={[
        ['Renewal possible until', lifecycle.renew_until],
        ['Restore possible until', lifecycle.restore_until],
        ['Available to everyone', lifecycle.purge_at],
        ['Certainty', capitalize(lifecycle.confidence)],
      ]}
    />
  )
}
