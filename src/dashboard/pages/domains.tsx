import { useNavigate } from '@tanstack/react-router'
import { Download, Earth, FileUp, Plus } from 'lucide-react'
import type { DomainView } from '../../features/domains/shapes'
import { download } from '../client'
import { BulkDelete, BulkTags } from '../parts/bulk'
import { Button } from '../parts/button'
import { ListPage, type Column } from '../parts/list'
import { tagsColumn } from '../parts/table'
import { useUrlState } from '../parts/url-state'
import { usePerson } from '../session'
import { addDomain, invalidates } from './domains/domain-fields'
import { importDomains } from './domains/import-domains'
import { DelegationStatus, delegationChoices, DomainStatus, Expiry, statusChoices } from './domains/texts'
import { useRegistrarAccounts } from './registrars/accounts'

const refetchMs = 30_000
const selection = { path: '/domains/bulk', nouns: ['domain', 'domains'], invalidates } as const

/** The list of domains. */
export default function Domains() {
  const accounts = useRegistrarAccounts()
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const [, set] = useUrlState({ tag: '' })
  const columns: readonly Column<DomainView>[] = [
    { title: 'Domain', sort: 'name', look: 'strong', width: 'clamp(12rem, 26cqw, 30rem)', render: one => one.unicode_name },
    { title: 'Status', width: '10rem', onPhone: 'corner', render: one => <DomainStatus status={one.status} /> },
    { title: 'Expires', sort: 'expires_at', width: '14rem', onPhone: 'line', render: one => <Expiry domain={one} /> },
    { title: 'Registrar', showFrom: 'md', onPhone: 'line', render: one => one.registrar?.name },
    { title: 'Delegation', width: '8rem', showFrom: 'lg', render: one => <DelegationStatus state={one.delegation.state} /> },
    tagsColumn(
      one => one.tags,
      tag => set({ tag }),
    ),
  ]
  return (
    <ListPage<DomainView>
      label="Domains"
      description="When your domains expire, their status, and where they are delegated."
      path="/domains"
      page="/domains/$id"
      actions={
        <>
          <Button icon={Download} onClick={() => download('/domains/export')}>
            Export
          </Button>
          {canWrite && (
            <Button icon={FileUp} onClick={importDomains}>
              Import
            </Button>
          )}
        </>
      }
      create={
        canWrite && {
          label: 'Add domain',
          icon: Plus,
          onClick: () => addDomain(id => void navigate({ to: '/domains/$id', params: { id } })),
        }
      }
      columns={columns}
      sort="expires_at"
      search
      counted
      refetchMs={refetchMs}
      filters={[
        { name: 'status', label: 'Status', all: 'All statuses', choices: statusChoices },
        { name: 'delegation', label: 'Delegation', all: 'All delegations', choices: delegationChoices },
        {
          name: 'sync_state',
          label: 'Lookups',
          all: 'All lookups',
          choices: { pending: 'Pending', fresh: 'Up to date', stale: 'Stale', error: 'Not possible' },
        },
        {
          name: 'registrar_account_id',
          label: 'Registrar',
          all: 'All registrars',
          choices: Object.fromEntries((accounts.data?.data ?? []).map(one => [one.id, one.name])),
        },
        { name: 'tag', label: 'Tag' },
      ]}
      bulk={
        canWrite
          ? (rows, onSuccess) => {
              const of = { ...selection, rows, onSuccess }
              return (
                <>
                  <BulkTags of={of} />
                  <BulkDelete
                    of={of}
                    text="Their registrations are not affected, but Bailiwick no longer tracks them. This can’t be undone."
                  />
                </>
              )
            }
          : undefined
      }
      empty={{
        icon: Earth,
        text: 'Add your domains to be warned before they expire, and to see whether they are delegated to your zones.',
      }}
    />
  )
}
