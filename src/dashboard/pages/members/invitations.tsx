import { useState } from 'react'
import type { InvitationView } from '../../../access/invitation-shapes'
import { Copied } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Columns, Form, SelectField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { Status, Tag } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'
import { roleChoices } from './roles'

/** An invitation with what is told of it once. */
export interface Invited {
  email: string
  link?: string
  note?: string | null
  sent_to?: string | null
}

/** Who was invited and did not come yet. Nothing when there is nobody. */
export function Invitations() {
  const { mayAdminister } = usePerson()
  const [made, setMade] = useState<Invited | null>(null)
  const list = useList<InvitationView>('/invitations', { status: 'pending,expired' })
  const renew = useSend<Invited>({ stale: ['/invitations'], onDone: setMade })
  const withdraw = useSend({ done: 'Invitation withdrawn', stale: ['/invitations'] })
  if (list.rows.length === 0) return null
  const columns: readonly Column<InvitationView>[] = [
    { name: 'email', title: 'E-mail', render: one => <span className="font-medium">{one.email}</span> },
    { name: 'role', title: 'Role', width: '7rem', from: 'sm', render: one => <Tag>{one.role}</Tag> },
    { name: 'status', title: 'State', width: '8rem', render: one => <Status state={one.status} /> },
    { name: 'ends', title: 'Ends', width: '9rem', from: 'sm', render: one => <Ago at={one.expires_at} /> },
    ...(mayAdminister
      ? [
          {
            name: 'more',
            title: '',
            width: '4rem',
            right: true,
            render: (one: InvitationView) => (
              <Menu
                label={`More for ${one.email}`}
                items={[
                  {
                    label: 'A new link',
                    onSelect: () => renew.mutate({ method: 'POST', path: `/invitations/${one.id}/renew`, body: {} }),
                  },
                  {
                    label: 'Withdraw',
                    bad: true,
                    onSelect: () => withdraw.mutate({ method: 'DELETE', path: `/invitations/${one.id}` }),
                  },
                ]}
              />
            ),
          },
        ]
      : []),
  ]
  return (
    <section className="mt-8">
      <h2 className="mb-2 font-semibold">Invitations</h2>
      <Table label="Invitations" columns={columns} list={list} idOf={one => one.id} empty={null} />
      <InviteLink invited={made} onClose={() => setMade(null)} />
    </section>
  )
}

interface InviteProps {
  open: boolean
  onClose(): void
  /** Where to make it: in the own workspace or, for the operator, in any. */
  path: string
  role?: string
}

/** Invites a person, and shows the link that they need. */
export function Invite({ open, onClose, path, role = 'member' }: InviteProps) {
  const [made, setMade] = useState<Invited | null>(null)
  const send = useSend<Invited>({
    quiet: true,
    stale: ['/invitations'],
    onDone: one => {
      setMade(one)
      onClose()
    },
  })
  return (
    <>
      <Dialog open={open} onClose={onClose} title="Invite a person">
        <Form
          initial={{ email: '', role, expires_in_seconds: '604800' }}
          call={values => ({ method: 'POST', path, body: { ...values, expires_in_seconds: Number(values.expires_in_seconds) } })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={onClose}
          action="Invite"
        >
          <TextField name="email" label="E-mail" type="email" autoFocus hint="They need not have a login yet." />
          <Columns>
            <SelectField name="role" label="Role" choices={roleChoices} />
            <SelectField
              name="expires_in_seconds"
              label="The link works"
              choices={[
                ['86400', 'a day'],
                ['604800', 'a week'],
                ['2592000', '30 days'],
              ]}
            />
          </Columns>
        </Form>
      </Dialog>
      <InviteLink invited={made} onClose={() => setMade(null)} />
    </>
  )
}

function InviteLink({ invited, onClose }: { invited: Invited | null; onClose(): void }) {
  return (
    <Dialog
      open={invited !== null}
      onClose={onClose}
      title="Pass this link on"
      description="It works once, and is shown this once."
    >
      {invited && (
        <div className="flex flex-col gap-3">
          {invited.sent_to && <p>It was mailed to {invited.sent_to}.</p>}
          {invited.link && <Copied text={invited.link} label="the link" />}
          {invited.note && <p className="text-muted">{invited.note}</p>}
        </div>
      )}
    </Dialog>
  )
}
