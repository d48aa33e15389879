import { BadgeCheck } from 'lucide-react'
import type { CertificateAuthorityView } from '../../features/certificates/authority-shapes'
import { Code, CopyableText } from '../parts/code'
import { TextareaField, TextField } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { formatDate } from '../parts/time'
import { usePerson } from '../session'
import { certificateTabs, invalidates } from './certificates/certificate-text'

/** The certificate authorities that the workspace trusts in addition to the public ones. */
export default function CertificateAuthorities() {
  const { canWrite } = usePerson()
  const columns: TableColumns<CertificateAuthorityView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    { title: 'Subject', width: '40cqw', showFrom: 'md', onPhone: 'line', look: 'muted', render: one => one.subject },
    {
      title: 'Expires',
      sort: 'not_after',
      width: '8rem',
      render: one => <span className="whitespace-nowrap">{formatDate(one.not_after)}</span>,
    },
    canWrite &&
      menuColumn<CertificateAuthorityView>(
        one => one.name,
        one => [
          {
            label: 'Remove authority',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'certificate authority',
                name: one.name,
                path: `/certificate-authorities/${one.id}`,
                invalidates,
                text: 'Certificates that it issued are no longer trusted in this workspace.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="Certificate authorities"
      description="Root certificates that this workspace trusts in addition to the public ones."
      path="/certificate-authorities"
      tabs={certificateTabs}
      columns={columns}
      sort="name"
      details={one => ({ title: one.name, content: <Details authority={one} /> })}
      create={canWrite && { label: 'Add authority', onClick: addAuthority }}
      empty={{
        icon: BadgeCheck,
        text: 'Add the root of your own CA, so that its certificates are shown as trusted.',
      }}
    />
  )
}

const Details = ({ authority: one }: { authority: CertificateAuthorityView }) => (
  <div className="flex flex-col gap-4">
    <Facts
      rows={[
        ['Subject', one.subject],
        ['Valid', `${formatDate(one.not_before)} to ${formatDate(one.not_after)}`],
        ['SHA-256', <CopyableText key="" text={one.fingerprint_sha256} label="fingerprint" />],
      ]}
    />
    <Code label="Root certificate" text={one.pem} />
  </div>
)

const addAuthority = () =>
  openForm<CertificateAuthorityView>({
    title: 'Add certificate authority',
    submitLabel: 'Add authority',
    wide: true,
    initial: { name: '', pem: '' },
    call: values => ({ method: 'POST', path: '/certificate-authorities', body: values }),
    send: { toast: 'Certificate authority added', invalidates },
    fields: (
      <>
        <TextField name="name" label="Name" placeholder="e.g. Office CA" autoFocus />
        <TextareaField
          name="pem"
          label="Root certificate"
          mono
          rows={10}
          placeholder="-----BEGIN CERTIFICATE-----"
          hint="As PEM. Never paste the private key."
        />
      </>
    ),
  })
