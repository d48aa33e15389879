import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import type { MemberView } from '../../features/people/members/shapes'
import { SelectField } from '../parts/form'
import { Checkbox } from '../parts/input'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { Confirm, openDialog, openForm } from '../parts/open-dialog'
import { Tag, capitalize } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { Invitations, inviteMember } from './members/invitations'
import { roleChoices } from './members/roles'

/** The members of the workspace, and invitations. */
export default function Members() {
  const person = usePerson()
  const columns: TableColumns<MemberView> = [
    {
      title: 'Name',
      render: one => (
        <>
          <span className="font-medium">{one.name}</span>
          {one.id === person.id && <span className="text-muted"> (you)</span>}
          {one.disabled && <span className="text-bad"> disabled</span>}
        </>
      ),
    },
    { title: 'Email', showFrom: 'md', look: 'muted', onPhone: 'line', render: one => one.email },
    { title: 'Role', width: '7rem', onPhone: 'corner', render: one => <Tag>{capitalize(one.role)}</Tag> },
    { title: 'Active tokens created', width: '8rem', showFrom: 'lg', alignRight: true, render: one => one.tokens },
    { title: 'Joined', width: '9rem', showFrom: 'lg', sort: 'joined_at', render: one => <RelativeTime at={one.joined_at} /> },
    { title: 'Last seen', width: '9rem', render: one => <RelativeTime at={one.last_seen_at} /> },
    person.canAdminister &&
      menuColumn<MemberView>(
        one => one.name,
        one => [
          { label: 'Change role', onSelect: () => changeRole(one) },
          {
            label: one.id === person.id ? 'Leave workspace' : 'Remove member',
            danger: true,
            onSelect: () =>
              openDialog({
                title: one.id === person.id ? `Leave ${person.workspace.name}?` : `Remove ${one.name}?`,
                content: <Removal member={one} isSelf={one.id === person.id} />,
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="Members"
      description="Users who have access to this workspace."
      path="/members"
      create={person.canAdminister && { label: 'Invite member', icon: UserPlus, onClick: () => inviteMember('/invitations') }}
      columns={columns}
      sort="id"
      search
      counted
      filters={[
        {
          name: 'role',
          label: 'Role',
          all: 'All roles',
          choices: roleChoices.map(([one]) => [one, capitalize(one)] as const),
        },
      ]}
      empty={{ icon: Users }}
    >
      <Invitations />
    </ListPage>
  )
}

function changeRole({ id, name, role }: MemberView): void {
  const path = `/members/${id}`
  openForm({
    title: 'Change role',
    initial: { role },
    call: values => ({ method: 'PATCH', path, body: values }),
    send: {
      toast: `Role of ${name} changed`,
      undo: () => ({ method: 'PATCH', path, body: { role } }),
      invalidates: ['/members', '/invitations'],
    },
    fields: <SelectField name="role" label={`Role of ${name}`} choices={roleChoices} hint="Takes effect immediately." />,
  })
}

function Removal({ member, isSelf }: { member: MemberView; isSelf: boolean }) {
  const [withTokens, setWithTokens] = useState(false)
  return (
    <Confirm
      action={isSelf ? 'Leave workspace' : 'Remove member'}
      call={{ method: 'DELETE', path: `/members/${member.id}`, query: { revoke_tokens: withTokens || null } }}
      send={{
        toast: isSelf ? 'You left the workspace' : `${member.name} removed`,
        invalidates: ['/members', '/invitations', '/tokens'],
      }}
      text={
        <>
          <p>
            {isSelf
              ? 'You lose access immediately. Invitations you created are revoked.'
              : 'They lose access immediately. Invitations they created are revoked.'}
          </p>
          {member.tokens > 0 && (
            <Checkbox multiline className="mt-3 text-ink" checked={withTokens} onCheck={setWithTokens}>
              <span>
                Also revoke the {member.tokens === 1 ? 'token' : `${member.tokens} tokens`} {isSelf ? 'you' : 'they'} created, and
                tokens created by those. Scripts that use them stop working.
              </span>
            </Checkbox>
          )}
        </>
      }
    />
  )
}
