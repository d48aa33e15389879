import { Store } from 'lucide-react'
import type { RegistrarAccountView } from '../../features/registrars/shapes'
import { accountStates, accountStatus } from '../parts/account-check'
import { ListPage, type Column } from '../parts/list'
import { pluralize } from '../parts/plural'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { moneyText, useRegistrarKindTitles } from './registrars/accounts'

const columnsOf = (titleOf: (kind: string) => string): readonly Column<RegistrarAccountView>[] => [
  { title: 'Account', look: 'strong', render: one => one.name },
  { title: 'Registrar', width: 'clamp(9rem, 14cqw, 16rem)', showFrom: 'md', onPhone: 'plain', render: one => titleOf(one.kind) },
  { title: 'Status', width: '9rem', render: one => <Status {...accountStatus(one)} /> },
  { title: 'Domains', width: '7rem', onPhone: 'plain', render: one => pluralize(one.domain_count, 'domain', 'domains') },
  { title: 'Credit', width: '8rem', onPhone: 'plain', render: one => one.balance && moneyText(one.balance) },
  {
    title: 'Details',
    showFrom: 'lg',
    onPhone: 'line',
    render: one => one.last_error && <span className="text-bad">{one.last_error.detail}</span>,
  },
  { title: 'Last sync', width: '9rem', showFrom: 'lg', render: one => <RelativeTime at={one.last_sync_at} /> },
]

/** Accounts at registrars. */
export default function RegistrarAccounts() {
  const titleOf = useRegistrarKindTitles()
  return (
    <ListPage
      label="Accounts"
      description="Accounts at registrars where you keep domains."
      path="/registrar-accounts"
      page="/registrar-accounts/$id"
      create="/registrar-accounts/new"
      columns={columnsOf(titleOf)}
      query={({ state }) => ({ state, limit: null })}
      filters={[{ name: 'state', label: 'Status', all: 'All statuses', choices: accountStates }]}
      empty={{ icon: Store, text: 'Connect a registrar to see its domains and their dates here.' }}
    />
  )
}
