import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import type { MemberView } from '../../features/people/members/shapes'
import { Confirm, Dialog } from '../parts/dialog'
import { Form, SelectField } from '../parts/form'
import { ListPage, menuColumn, type Column } from '../parts/list'
import { Tag, capitalize } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { Invitations, Invite } from './members/invitations'
import { roleChoices } from './members/roles'

type OpenDialog = { what: 'role' | 'remove'; member: MemberView } | { what: 'invite' } | null

/** The members of the workspace, and invitations. */
export default function Members() {
  const person = usePerson()
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const close = () => setDialog(null)
  const columns: readonly Column<MemberView>[] = [
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
    { title: 'Email', showFrom: 'md', render: one => one.email },
    { title: 'Role', width: '7rem', render: one => <Tag>{one.role}</Tag> },
    { title: 'Tokens', width: '6rem', showFrom: 'lg', alignRight: true, render: one => one.tokens },
    { title: 'Joined', width: '9rem', showFrom: 'lg', sort: 'joined_at', render: one => <RelativeTime at={one.joined_at} /> },
    { title: 'Last seen', width: '9rem', showFrom: 'sm', render: one => <RelativeTime at={one.last_seen_at} /> },
    ...(person.canAdminister
      ? [
          menuColumn<MemberView>(
            one => one.name,
            one => [
              { label: 'Change role', onSelect: () => setDialog({ what: 'role', member: one }) },
              {
                label: one.id === person.id ? 'Leave workspace' : 'Remove member',
                danger: true,
                onSelect: () => setDialog({ what: 'remove', member: one }),
              },
            ],
          ),
        ]
      : []),
  ]
  return (
    <ListPage
      label="Members"
      description="Users who have access to this workspace."
      path="/members"
      create={person.canAdminister && { label: 'Invite member', icon: UserPlus, onClick: () => setDialog({ what: 'invite' }) }}
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
      <Invite open={dialog?.what === 'invite'} onClose={close} path="/invitations" />
      <Dialog open={dialog?.what === 'role'} onClose={close} title="Change role">
        {dialog?.what === 'role' && <RoleForm member={dialog.member} onClose={close} />}
      </Dialog>
      {dialog?.what === 'remove' && <Removal member={dialog.member} onClose={close} />}
    </ListPage>
  )
}

function RoleForm({ member, onClose }: { member: MemberView; onClose(): void }) {
  const path = `/members/${member.id}`
  return (
    <Form
      initial={{ role: member.role }}
      call={values => ({ method: 'PATCH', path, body: values })}
      send={{
        toast: `Role of ${member.name} changed`,
        undo: () => ({ method: 'PATCH', path, body: { role: member.role } }),
        invalidates: ['/members', '/invitations'],
        onSuccess: onClose,
      }}
      onCancel={onClose}
      submitLabel="Change role"
    >
      <SelectField
        name="role"
        label={`Role of ${member.name}`}
        choices={roleChoices}
        hint="Takes effect with their next request."
      />
    </Form>
  )
}

function Removal({ member, onClose }: { member: MemberView; onClose(): void }) {
  const [withTokens, setWithTokens] = useState(false)
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Remove ${member.name}?`}
      confirmLabel="Remove member"
      call={() => ({ method: 'DELETE', path: `/members/${member.id}`, query: { revoke_tokens: withTokens || null } })}
      send={{ toast: `${member.name} removed`, invalidates: ['/members', '/invitations', '/tokens'], onSuccess: onClose }}
    >
      <p>They lose access with their next request. Invitations they created are revoked.</p>
      {member.tokens > 0 && (
        <label className="mt-3 flex items-start gap-2 text-ink">
          <input type="checkbox" className="mt-1" checked={withTokens} onChange={event => setWithTokens(event.target.checked)} />
          <span>
            Also revoke the {member.tokens === 1 ? 'token' : `${member.tokens} tokens`} they created, and tokens created by those.
            Scripts that use them stop working.
          </span>
        </label>
      )}
    </Confirm>
  )
}
