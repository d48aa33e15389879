import type { Static } from '@sinclair/typebox'
import type { InvitationView, InvitationWithCode } from '../../../features/people/invitations/shapes'
import { SelectField, TextField } from '../../parts/form'
import { menuColumn } from '../../parts/list'
import { openForm } from '../../parts/open-dialog'
import { showSecret } from '../../parts/secret'
import { Status, Tag, capitalize } from '../../parts/status'
import { Table, type TableColumns } from '../../parts/table'
import { RelativeTime } from '../../parts/time'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'
import { roleChoices } from './roles'

/** An invitation with the values that are shown only once. */
type Invited = Static<typeof InvitationWithCode>

/** Pending and expired invitations. Hidden if there are none. */
export function Invitations() {
  const { canAdminister } = usePerson()
  const list = useList<InvitationView>('/invitations', { status: 'pending,expired' })
  const renew = useSend<Invited>({ invalidates: ['/invitations'], onSuccess: showRenewed })
  const revoke = useSend({ toast: 'Invitation revoked', invalidates: ['/invitations'] })
  if (list.rows.length === 0) return null
  const columns: TableColumns<InvitationView> = [
    { title: 'Email', look: 'strong', render: one => one.email },
    { title: 'Role', width: '7rem', onPhone: 'plain', render: one => <Tag>{capitalize(one.role)}</Tag> },
    { title: 'Status', width: '8rem', render: one => <Status status={one.status} /> },
    { title: 'Expires', width: '9rem', render: one => <RelativeTime at={one.expires_at} /> },
    canAdminister &&
      menuColumn<InvitationView>(
        one => one.email,
        one => [
          {
            label: 'Renew invitation',
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
  return (
    <section className="mt-8">
      <h2 className="mb-2 font-semibold">Invitations</h2>
      <Table label="Invitations" columns={columns} list={list} idOf={one => one.id} empty={null} />
    </section>
  )
}

/** Invites a member, and shows the link. @param path API path: of the current workspace or, for the operator, of any */
export const inviteMember = (path: string, role = 'member'): void =>
  openForm<Invited>({
    title: 'Invite member',
    submitLabel: 'Create invitation',
    initial: { email: '', role, expires_in_seconds: '604800' },
    call: values => ({ method: 'POST', path, body: { ...values, expires_in_seconds: Number(values.expires_in_seconds) } }),
    send: { invalidates: ['/invitations'], onSuccess: showLink },
    fields: (
      <>
        <TextField
          name="email"
          label="Email"
          type="email"
          autoFocus
          hint="You get a link to share. If this installation can send email, the link is also emailed."
        />
        <SelectField name="role" label="Role" choices={roleChoices} />
        <SelectField
          name="expires_in_seconds"
          label="Link expires after"
          choices={{ '86400': '1 day', '604800': '7 days', '2592000': '30 days' }}
        />
      </>
    ),
  })

const showRenewed = (invited: Invited) => showLink(invited, 'The old link no longer works.')

const showLink = ({ email, sent_to, link, note }: Invited, more = '') =>
  showSecret({
    title: 'Share the invitation link',
    description: `The link works only once, and is shown only once. ${more}`,
    value: link,
    file: `invitation ${email}`,
    isSent: Boolean(sent_to),
    more: (
      <>
        {sent_to && <p>It was also emailed to {sent_to}.</p>}
        {note && <p className="text-muted">{note}</p>}
      </>
    ),
  })
