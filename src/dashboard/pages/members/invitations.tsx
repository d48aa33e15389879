import { useState } from 'react'
import type { InvitationView } from '../../../features/people/invitations/shapes'
import { CopyableText } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Columns, Form, SelectField, TextField } from '../../parts/form'
import { menuColumn } from '../../parts/list'
import { Status, Tag } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'
import { roleChoices } from './roles'

/** An invitation with the values that are shown only once. */
interface Invited {
  email: string
  link?: string
  note?: string | null
  sent_to?: string | null
}

/** Pending and expired invitations. Hidden if there are none. */
export function Invitations() {
  const { canAdminister } = usePerson()
  const [made, setMade] = useState<Invited | null>(null)
  const list = useList<InvitationView>('/invitations', { status: 'pending,expired' })
  const renew = useSend<Invited>({ invalidates: ['/invitations'], onSuccess: setMade })
  const revoke = useSend({ toast: 'Invitation revoked', invalidates: ['/invitations'] })
  if (list.rows.length === 0) return null
  const columns: readonly Column<InvitationView>[] = [
    { title: 'Email', render: one => <span className="font-medium">{one.email}</span> },
    { title: 'Role', width: '7rem', showFrom: 'sm', render: one => <Tag>{one.role}</Tag> },
    { title: 'Status', width: '8rem', render: one => <Status status={one.status} /> },
    { title: 'Expires', width: '9rem', showFrom: 'sm', render: one => <RelativeTime at={one.expires_at} /> },
    ...(canAdminister
      ? [
          menuColumn<InvitationView>(
            one => one.email,
            one => [
              {
                label: 'Renew link',
                onSelect: () => renew.mutate({ method: 'POST', path: `/invitations/${one.id}/renew`, body: {} }),
              },
              {
                label: 'Revoke invitation',
                danger: true,
                onSelect: () => revoke.mutate({ method: 'DELETE', path: `/invitations/${one.id}` }),
              },
            ],
          ),
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
  /** API path: of the current workspace or, for the operator, of any. */
  path: string
  role?: string
}

/** Invites a person, and shows the link. */
export function Invite({ open, onClose, path, role = 'member' }: InviteProps) {
  const [made, setMade] = useState<Invited | null>(null)
  return (
    <>
      <Dialog open={open} onClose={onClose} title="Invite member">
        <Form<Invited>
          initial={{ email: '', role, expires_in_seconds: '604800' }}
          call={values => ({ method: 'POST', path, body: { ...values, expires_in_seconds: Number(values.expires_in_seconds) } })}
          send={{
            invalidates: ['/invitations'],
            onSuccess: one => {
              setMade(one)
              onClose()
            },
          }}
          onCancel={onClose}
          submitLabel="Send invitation"
        >
          <TextField name="email" label="Email" type="email" autoFocus hint="They don’t need an account yet." />
          <Columns>
            <SelectField name="role" label="Role" choices={roleChoices} />
            <SelectField
              name="expires_in_seconds"
              label="Link expires after"
              choices={{ '86400': '1 day', '604800': '7 days', '2592000': '30 days' }}
            />
          </Columns>
        </Form>
      </Dialog>
      <InviteLink invited={made} onClose={() => setMade(null)} />
    </>
  )
}

const InviteLink = ({ invited, onClose }: { invited: Invited | null; onClose(): void }) => (
  <Dialog open={invited !== null} onClose={onClose} title="Share this link" description="It works once, and is shown only once.">
    {invited && (
      <div className="flex flex-col gap-3">
        {invited.sent_to && <p>It was also emailed to {invited.sent_to}.</p>}
        {invited.link && <CopyableText text={invited.link} label="the link" />}
        {invited.note && <p className="text-muted">{invited.note}</p>}
      </div>
    )}
  </Dialog>
)
