import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { AcmeAccountView } from '../../../features/acme/accounts/shapes'
import type { ActionView } from '../../../features/actions/shapes'
import type { CertificateGapView } from '../../../features/coverage/shapes'
import { ListField, useForm } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { useOne } from '../../queries'
import { AccountField } from '../issuing/account-field'
import { gapInvalidates } from './gap-text'

/** Whether a certificate that closes a gap can be issued. */
export const isIssuable = ({ issuable, status }: CertificateGapView): boolean => issuable && status !== 'resolved'

/** Opens the dialog that issues a certificate for a gap. @param onStarted called when issuing has started */
export const issueForGap = ({ id, name }: CertificateGapView, onStarted: () => void): void =>
  openForm<ActionView>({
    title: 'Issue certificate',
    description: `Issues a certificate for ${name} that is renewed automatically. Download and install it when it is issued: the next scan then resolves the gap.`,
    initial: { acme_account_id: '', include: [] },
    call: ({ acme_account_id, include }) => ({
      method: 'POST',
      path: `/certificate-gaps/${id}/issue`,
      body: { acme_account_id, include },
    }),
    send: {
      toast: 'Issuing started',
      invalidates: [...gapInvalidates, '/managed-certificates', '/actions'],
      onSuccess: onStarted,
    },
    fields: <IssueFields />,
  })

function IssueFields() {
  const accounts = useOne<{ data: AcmeAccountView[] }>('/acme-accounts').data?.data
  const { set } = useForm()
  const first = accounts?.find(one => one.status === 'valid')?.id
  useEffect(() => {
    if (first !== undefined) set({ acme_account_id: first })
  }, [first])
  return (
    <>
      {accounts?.length === 0 && (
        <p>
          You need an ACME account first, for example at Let’s Encrypt.{' '}
          <Link to="/acme-accounts" className="text-accent hover:underline">
            Create ACME account
          </Link>
        </p>
      )}
      <AccountField accounts={accounts ?? []} />
      <ListField
        name="include"
        label="More names"
        placeholder="www.example.com"
        hint="Optional. Each name must be in one of your DNS zones."
      />
    </>
  )
}
