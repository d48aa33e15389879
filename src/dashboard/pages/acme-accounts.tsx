import { Stamp } from 'lucide-react'
import type { AcmeAccountView, AcmeDirectoryView } from '../../features/acme/accounts/shapes'
import { accountStates, accountStatus, CheckOutcome, type CheckedAccounts } from '../parts/account-check'
import { CopyableText, Mono } from '../parts/code'
import { CheckboxField, SelectField, TextareaField, TextField, useForm, SecretField, type Values } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirm, confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useOne, useSend } from '../queries'
import { usePerson } from '../session'
import { issuingTabs } from './issuing/issuing-tabs'

const invalidates = ['/acme-accounts']
const checked: CheckedAccounts = { noun: 'certificate authority', help: '/docs/issuing#acme-accounts' }

/** Accounts at certificate authorities. */
export default function AcmeAccounts() {
  const { canWrite } = usePerson()
  const { data: presets } = useOne<{ data: AcmeDirectoryView[] }>('/acme-directories')
  const check = useSend<AcmeAccountView>({ toast: 'Account checked', invalidates })
  const columns: TableColumns<AcmeAccountView> = [
    { title: 'Account', look: 'strong', render: one => one.name },
    { title: 'Status', width: '9rem', render: one => <AccountStatus account={one} /> },
    { title: 'Certificate authority', width: '34cqw', onPhone: 'line', render: one => new URL(one.directory_url).host },
    { title: 'Last checked', width: '9rem', showFrom: 'lg', render: one => <RelativeTime at={one.last_checked_at} /> },
    canWrite &&
      menuColumn<AcmeAccountView>(
        one => one.name,
        one => [
          ...(one.status === 'valid'
            ? ([
                { label: 'Edit account', onSelect: () => editAccount(one) },
                { label: 'Check now', onSelect: () => check.mutate({ method: 'POST', path: `/acme-accounts/${one.id}/check` }) },
                '-',
                { label: 'Deactivate account', danger: true, onSelect: () => deactivate(one) },
              ] as const)
            : []),
          {
            label: 'Delete account',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'account',
                name: one.name,
                path: `/acme-accounts/${one.id}`,
                invalidates,
                text: 'This deletes the account and its key here. The account stays valid at the certificate authority, unless you deactivate it first.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="ACME accounts"
      description="Accounts at certificate authorities that issue certificates for your names."
      tabs={issuingTabs}
      path="/acme-accounts"
      columns={columns}
      query={({ state, status }) => ({ state, status, limit: null })}
      filters={[
        { name: 'state', label: 'Health', all: 'All states', choices: accountStates },
        { name: 'status', label: 'Status', all: 'All statuses', choices: { valid: 'Valid', deactivated: 'Deactivated' } },
      ]}
      details={one => ({ title: one.name, content: <Details account={one} /> })}
      create={canWrite && { label: 'Register account', onClick: () => registerAccount(presets?.data ?? []) }}
      empty={{
        icon: Stamp,
        text: 'Register an account at a certificate authority such as Let’s Encrypt, to issue certificates for names in your DNS zones.',
      }}
    />
  )
}

const AccountStatus = ({ account }: { account: AcmeAccountView }) =>
  account.status === 'deactivated' ? <Status status="deactivated" /> : <Status {...accountStatus(account)} />

const Details = ({ account: one }: { account: AcmeAccountView }) => (
  <div className="flex flex-col gap-4">
    {one.state !== 'unknown' && <CheckOutcome {...one} state={one.state} error={one.last_error} of={checked} />}
    <Facts
      rows={[
        ['Status', <AccountStatus key="" account={one} />],
        ['Directory', <Mono key="">{one.directory_url}</Mono>],
        ['Account URL', <CopyableText key="" text={one.account_url} label="account URL" />],
        ['Contact', one.contact_email],
        ['External account', one.eab && <Mono key="">{one.eab.kid}</Mono>],
        ['Account key', `${one.key_type} (not shown)`],
        ['CA certificates', one.ca_pem && 'Private certificate authority'],
        ['Last healthy', <RelativeTime key="" at={one.last_ok_at} />],
        ['Registered', <RelativeTime key="" at={one.created_at} />],
        ['ID', <CopyableText key="" text={one.id} />],
      ]}
    />
  </div>
)

const deactivate = ({ id, name }: AcmeAccountView) =>
  confirm({
    title: `Deactivate ${name}?`,
    text: 'The certificate authority no longer accepts this account, and its key is destroyed. Certificates that were issued stay valid. This can’t be undone.',
    action: 'Deactivate account',
    typeToConfirm: name,
    call: { method: 'POST', path: `/acme-accounts/${id}/deactivate` },
    send: { toast: `${name} deactivated`, invalidates },
  })

const text = (value: unknown): string | null => (value === '' || value == null ? null : String(value))

const bodyOf = (values: Values) => ({
  name: values.name,
  directory_url: values.directory === other ? values.directory_url : values.directory,
  contact_email: text(values.contact_email),
  terms_agreed: values.terms_agreed,
  eab: text(values['eab.kid']) === null ? null : { kid: values['eab.kid'], hmac_key: values['eab.hmac_key'] },
  ca_pem: values.directory === other ? text(values.ca_pem) : null,
})

const other = 'other'

const registerAccount = (presets: readonly AcmeDirectoryView[]) =>
  openForm<AcmeAccountView>({
    title: 'Register account',
    wide: true,
    initial: {
      ...{ name: '', directory: presets[0]?.directory_url ?? other, directory_url: '', contact_email: '' },
      ...{ terms_agreed: false, 'eab.kid': '', 'eab.hmac_key': '', ca_pem: '' },
    },
    call: values => ({ method: 'POST', path: '/acme-accounts', body: bodyOf(values) }),
    send: { toast: 'Account registered', invalidates },
    fields: <RegistrationFields presets={presets} />,
  })

function RegistrationFields({ presets }: { presets: readonly AcmeDirectoryView[] }) {
  const { values } = useForm()
  const isOther = values.directory === other
  const preset = presets.find(one => one.directory_url === values.directory)
  const needsEab = isOther || preset?.eab_required
  return (
    <>
      <TextField name="name" label="Name" placeholder="e.g. Let’s Encrypt" autoFocus />
      <SelectField
        name="directory"
        label="Certificate authority"
        choices={[...presets.map(one => [one.directory_url, one.title] as const), [other, 'Other'] as const]}
      />
      {isOther && (
        <TextField name="directory_url" label="Directory URL" mono placeholder="https://ca.example.com/acme/directory" />
      )}
      <TextField
        name="contact_email"
        label="Contact email"
        type="email"
        hint="For messages of the certificate authority. Optional."
      />
      {needsEab && (
        <>
          <TextField
            name="eab.kid"
            label="Key ID"
            mono
            hint="From your account at the certificate authority, if it requires one."
          />
          <SecretField name="eab.hmac_key" label="HMAC key" hint="Used once to register, and not stored." />
        </>
      )}
      {isOther && (
        <TextareaField
          name="ca_pem"
          label="CA certificates"
          mono
          rows={4}
          hint="For a private certificate authority: PEM certificates to trust when connecting to it."
        />
      )}
      <CheckboxField name="terms_agreed" label="I agree to the terms of service of the certificate authority" />
      {preset && (
        <p className="text-[13px] text-muted">
          The terms are on the website of the certificate authority:{' '}
          <a href={preset.website} rel="noreferrer" target="_blank" className="text-accent underline">
            {new URL(preset.website).hostname}
          </a>
        </p>
      )}
    </>
  )
}

const editAccount = ({ id, name, contact_email, ca_pem, version }: AcmeAccountView) =>
  openForm<AcmeAccountView>({
    title: 'Edit account',
    submitLabel: 'Save changes',
    wide: true,
    initial: { name, contact_email: contact_email ?? '', ca_pem: ca_pem ?? '' },
    call: values => ({
      method: 'PATCH',
      path: `/acme-accounts/${id}`,
      ifMatch: version,
      body: { name: values.name, contact_email: text(values.contact_email), ca_pem: text(values.ca_pem) },
    }),
    send: { toast: 'Account saved', invalidates },
    fields: (
      <>
        <TextField name="name" label="Name" autoFocus />
        <TextField name="contact_email" label="Contact email" type="email" />
        <TextareaField name="ca_pem" label="CA certificates" mono rows={4} hint="Only for private certificate authorities." />
      </>
    ),
  })
