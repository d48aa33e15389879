import { KeyRound, ShieldAlert } from 'lucide-react'
import type { TokenView } from '../../features/tokens/shapes'
import { BulkDelete } from '../parts/bulk'
import { Button } from '../parts/button'
import { SecretField } from '../parts/form'
import { ListPage, type Column } from '../parts/list'
import { openForm } from '../parts/open-dialog'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { statusOf, permissionsText, tokenModes } from './tokens/token-text'

const columns: readonly Column<TokenView>[] = [
  { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
  { title: 'Status', width: '9rem', render: one => <Status {...statusOf(one)} /> },
  { title: 'Permissions', showFrom: 'md', look: 'muted', onPhone: 'line', render: permissionsText },
  { title: 'Token', width: '11rem', showFrom: 'lg', look: 'mono', render: one => one.hint },
  { title: 'Last used', width: '9rem', render: one => <RelativeTime at={one.last_used_at} /> },
  { title: 'Expires', width: '9rem', render: one => <RelativeTime at={one.expires_at} /> },
]

/** API tokens of the workspace. */
export default function Tokens() {
  const { canAdminister } = usePerson()
  return (
    <ListPage
      label="Tokens"
      description="API tokens let scripts and programs access this workspace."
      path="/tokens"
      page="/tokens/$id"
      create="/tokens/new"
      actions={
        <Button icon={ShieldAlert} onClick={reportToken}>
          Report leaked token
        </Button>
      }
      columns={columns}
      sort="-id"
      search
      counted
      filters={[{ name: 'mode', label: 'Access', all: 'All access levels', choices: tokenModes }]}
      bulk={
        canAdminister
          ? (rows, onSuccess) => (
              <BulkDelete
                of={{ ...selection, rows, onSuccess }}
                verb={{ label: 'Revoke', op: 'revoke', done: 'revoked' }}
                text="Anything that uses these tokens stops working immediately. This can’t be undone."
              />
            )
          : undefined
      }
      empty={{ icon: KeyRound, text: 'Create a token to let a script or program use the API.' }}
    />
  )
}

const selection = { path: '/tokens/bulk', nouns: ['token', 'tokens'], invalidates: ['/tokens'] } as const

/** Revokes a token by its value, also one of another workspace. */
const reportToken = () =>
  openForm({
    title: 'Report a leaked token',
    description:
      'Revokes a token that was published or stolen, immediately and in any workspace. Its workspace gets a notice. For security, the result is the same if no such token exists.',
    submitLabel: 'Revoke token',
    initial: { token: '' },
    call: values => ({ method: 'POST', path: '/tokens/report', body: values }),
    send: { toast: 'Report sent. If the token exists, it is revoked now.', invalidates: ['/tokens', '/notices'] },
    fields: <SecretField name="token" label="Token" hint="The complete value, such as bw_live_…" autoComplete="off" autoFocus />,
  })
