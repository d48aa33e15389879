import { KeyRound } from 'lucide-react'
import type { TokenView } from '../../features/tokens/shapes'
import { ListPage, type Column } from '../parts/list'
import { Status, Tag } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { statusOf, permissionsText, tokenModes } from './tokens/token-text'

const columns: readonly Column<TokenView>[] = [
  { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
  { title: 'Status', width: '9rem', render: one => <Status {...statusOf(one)} /> },
  { title: 'Permissions', showFrom: 'md', render: one => <Tag>{permissionsText(one)}</Tag> },
  { title: 'Token', width: '11rem', showFrom: 'lg', look: 'mono', render: one => one.hint },
  { title: 'Last used', width: '9rem', showFrom: 'sm', render: one => <RelativeTime at={one.last_used_at} /> },
  { title: 'Expires', width: '9rem', showFrom: 'sm', render: one => <RelativeTime at={one.expires_at} /> },
]

/** API tokens of the workspace. */
export default function Tokens() {
  return (
    <ListPage
      label="Tokens"
      description="API tokens let scripts and programs access this workspace."
      path="/tokens"
      page="/tokens/$id"
      create="/tokens/new"
      columns={columns}
      sort="-id"
      search
      counted
      filters={[{ name: 'mode', label: 'Access', all: 'All access levels', choices: tokenModes }]}
      empty={{ icon: KeyRound, text: 'Create a token to let a script or program use the API.' }}
    />
  )
}
