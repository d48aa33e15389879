import { UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import type { MemberView } from '../../../access/member-shapes'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import { Confirm, Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Form, SelectField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { Page } from '../../parts/page'
import { Tag } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'
import { Invitations, Invite } from './invitations'
import { roleChoices } from './roles'

type Asked = { what: 'role' | 'remove'; member: MemberView } | { what: 'invite' } | null

/** The people of the workspace, and those who were invited. */
export default function Members() {
  const person = usePerson()
  const [asked, setAsked] = useState<Asked>(null)
  const [{ role, q, sort }, set] = useAddress({ role: '', q: '', sort: 'id' })
  const list = useList<MemberView>('/members', { role, q, sort, include: 'total' })
  const close = () => setAsked(null)
  const columns: readonly Column<MemberView>[] = [
    {
      name: 'name',
      title: 'Name',
      render: one => (
        <>
          <span className="font-medium">{one.name}</span>
          {one.id === person.id && <span className="text-muted"> (you)</span>}
          {one.disabled && <span className="text-bad"> kept out</span>}
        </>
      ),
    },
    { name: 'email', title: 'E-mail', from: 'md', render: one => one.email },
    { name: 'role', title: 'Role', width: '7rem', render: one => <Tag>{one.role}</Tag> },
    { name: 'tokens', title: 'Tokens', width: '6rem', from: 'lg', right: true, render: one => one.tokens },
    { name: 'joined', title: 'Joined', width: '9rem', from: 'lg', sort: 'joined_at', render: one => <Ago at={one.joined_at} /> },
    { name: 'seen', title: 'Last seen', width: '9rem', from: 'sm', render: one => <Ago at={one.last_seen_at} /> },
    ...(person.mayAdminister
      ? [
          {
            name: 'more',
            title: '',
            width: '4rem',
            right: true,
            render: (one: MemberView) => (
              <Menu
                label={`More for ${one.name}`}
                items={[
                  { label: 'Change the role', onSelect: () => setAsked({ what: 'role', member: one }) },
                  {
                    label: one.id === person.id ? 'Leave' : 'Remove',
                    bad: true,
                    onSelect: () => setAsked({ what: 'remove', member: one }),
                  },
                ]}
              />
            ),
          },
        ]
      : []),
  ]
  const invite = person.mayAdminister && (
    <Button kind="main" data-new icon={<UserPlus className="size-4" aria-hidden />} onClick={() => setAsked({ what: 'invite' })}>
      Invite
    </Button>
  )
  return (
    <Page title="Members" lead="The people who belong to this workspace." actions={invite}>
      <Filters>
        <SearchField label="Search members" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="Role"
          value={role}
          onChange={value => set({ role: value })}
          choices={[['', 'All roles'], ...roleChoices.map(([one]) => [one, one] as const)]}
        />
      </Filters>
      <Table
        label="Members"
        columns={columns}
        list={list}
        idOf={one => one.id}
        sort={sort}
        onSort={value => set({ sort: value })}
        empty={<Empty icon={Users} title="Nobody like that" />}
      />
      <Invitations />
      <Invite open={asked?.what === 'invite'} onClose={close} path="/invitations" />
      <Dialog open={asked?.what === 'role'} onClose={close} title="Change the role">
        {asked?.what === 'role' && <RoleForm member={asked.member} onClose={close} />}
      </Dialog>
      {asked?.what === 'remove' && <Removal member={asked.member} onClose={close} />}
    </Page>
  )
}

function RoleForm({ member, onClose }: { member: MemberView; onClose(): void }) {
  const path = `/members/${member.id}`
  const send = useSend({
    quiet: true,
    done: `${member.name} has another role`,
    undo: () => ({ method: 'PATCH', path, body: { role: member.role } }),
    stale: ['/members', '/invitations'],
    onDone: onClose,
  })
  return (
    <Form
      initial={{ role: member.role }}
      call={values => ({ method: 'PATCH', path, body: values })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action="Change the role"
    >
      <SelectField name="role" label={`Role of ${member.name}`} choices={roleChoices} hint="It holds with their next request." />
    </Form>
  )
}

function Removal({ member, onClose }: { member: MemberView; onClose(): void }) {
  const [withTokens, setWithTokens] = useState(false)
  const send = useSend({ done: `${member.name} was removed`, stale: ['/members', '/invitations', '/tokens'], onDone: onClose })
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Remove ${member.name}?`}
      action="Remove member"
      pending={send.isPending}
      onConfirm={() =>
        send.mutate({ method: 'DELETE', path: `/members/${member.id}`, query: { revoke_tokens: withTokens || null } })
      }
    >
      <p>They lose the workspace with their next request. Invitations that they made are withdrawn.</p>
      {member.tokens > 0 && (
        <label className="mt-3 flex items-start gap-2 text-ink">
          <input type="checkbox" className="mt-1" checked={withTokens} onChange={event => setWithTokens(event.target.checked)} />
          <span>
            Revoke the {member.tokens === 1 ? 'token' : `${member.tokens} tokens`} they made, and what those made. Scripts that
            use them stop working.
          </span>
        </label>
      )}
    </Confirm>
  )
}
