import { Globe } from 'lucide-react'
import type { RegistrarAccountDomainView, RegistrarAccountView } from '../../../features/registrars/shapes'
import { List, type Column } from '../../parts/list'
import { Card } from '../../parts/page'
import { Status } from '../../parts/status'
import { RelativeTime } from '../../parts/time'

/** Domains that the account has now, read from the registrar. */
export function AccountDomains({ account: { id, state } }: { account: RegistrarAccountView }) {
  if (state !== 'ok') return null
  return (
    <Card title="Domains in this account" className="lg:col-span-2">
      <p className="mb-3 text-muted">Read from the registrar now.</p>
      <List
        label="Domains"
        path={`/registrar-accounts/${id}/domains`}
        columns={columns}
        idOf={one => one.name}
        search
        query={({ q = '' }) => ({ q: q.toLowerCase() })}
        empty={{ icon: Globe, title: 'No domains' }}
      />
    </Card>
  )
}

const columns: readonly Column<RegistrarAccountDomainView>[] = [
  { title: 'Domain', look: 'strong', render: one => one.unicode_name },
  { title: 'Status', width: '9rem', render: one => <Status status={one.status} tone={tones[one.status]} /> },
  { title: 'Expires', width: '10rem', onPhone: 'plain', render: one => <RelativeTime at={one.expires_at} fallback="Unknown" /> },
  { title: 'Auto-renew', width: '8rem', showFrom: 'md', render: one => flagText(one.auto_renew, 'On', 'Off') },
  { title: 'Transfer lock', width: '9rem', showFrom: 'lg', render: one => flagText(one.locked, 'Locked', 'Unlocked') },
]

const tones = {
  active: 'ok',
  suspended: 'bad',
  expired: 'bad',
  redemption: 'bad',
  pending_delete: 'bad',
  pending_registration: 'idle',
  pending_transfer: 'idle',
  unknown: 'idle',
} as const

const flagText = (flag: boolean | null, on: string, off: string): string => (flag === null ? 'Unknown' : flag ? on : off)
