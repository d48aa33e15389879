import { Link } from '@tanstack/react-router'
import { FileBadge } from 'lucide-react'
import { useEffect } from 'react'
import type { AcmeAccountView } from '../../features/acme/accounts/shapes'
import type { ManagedCertificateDownload, ManagedCertificateView } from '../../features/acme/managed-certificates/shapes'
import type { ActionView } from '../../features/actions/shapes'
import type { AgentView } from '../../features/servers/agents/shapes'
import type { ServerView } from '../../features/servers/shapes'
import { CopyableText } from '../parts/code'
import { CheckboxField, ListField, SelectField, TextareaField, TextField, useForm, type Values } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirm, confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { showSecret } from '../parts/secret'
import { Status, Tags } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useList, useOne, useSend } from '../queries'
import { usePerson } from '../session'
import { AccountField } from './issuing/account-field'
import { issuingTabs } from './issuing/issuing-tabs'
import { FollowedAction } from './actions/followed-action'

const invalidates = ['/managed-certificates', '/actions']
const statuses = {
  pending: 'Pending',
  issuing: 'Issuing',
  delivering: 'Installing',
  valid: 'Valid',
  failing: 'Failing',
  revoked: 'Revoked',
}
const tones = { pending: 'idle', issuing: 'busy', delivering: 'busy', valid: 'ok', failing: 'bad', revoked: 'bad' } as const

/** Certificates that are issued and renewed here. */
export default function ManagedCertificates() {
  const { canWrite } = usePerson()
  const accounts = useOne<{ data: AcmeAccountView[] }>('/acme-accounts').data?.data ?? []
  const send = useSend<ManagedCertificateView>({ invalidates })
  const columns: TableColumns<ManagedCertificateView> = [
    { title: 'Names', look: 'strong', render: titleOf },
    { title: 'Status', width: '9rem', render: one => <CertificateStatus of={one} /> },
    {
      title: 'Expires',
      width: '9rem',
      render: one => <RelativeTime at={one.not_after} fallback="Not issued" />,
    },
    {
      title: 'Next renewal',
      width: '9rem',
      showFrom: 'md',
      render: one => <RelativeTime at={one.next_renewal_at} past="now" fallback="Not scheduled" />,
    },
    { title: 'Tags', width: '12rem', showFrom: 'lg', render: one => one.tags.length > 0 && <Tags tags={one.tags} /> },
    canWrite &&
      menuColumn<ManagedCertificateView>(titleOf, one => {
        const path = `/managed-certificates/${one.id}`
        return [
          ...(one.certificate_id !== null || one.not_after !== null
            ? ([{ label: 'Download', onSelect: () => download(one) }] as const)
            : []),
          { label: 'Renew now', onSelect: () => renew(one) },
          { label: 'Edit', onSelect: () => edit(one, accounts) },
          one.paused
            ? { label: 'Resume', onSelect: () => send.mutate({ method: 'POST', path: `${path}/resume` }) }
            : { label: 'Pause', onSelect: () => send.mutate({ method: 'POST', path: `${path}/pause` }) },
          '-',
          ...(one.not_after !== null && one.revoked_at === null
            ? ([{ label: 'Revoke', danger: true, onSelect: () => revoke(one) }] as const)
            : []),
          {
            label: 'Delete',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'managed certificate',
                path,
                invalidates,
                text: 'The certificate is no longer renewed, and its private key is deleted here. It stays valid until it expires, unless you revoke it first.',
              }),
          },
        ]
      }),
  ]
  return (
    <ListPage
      label="Managed certificates"
      description="Certificates that Bailiwick issues for names in your DNS zones, and renews before they expire."
      tabs={issuingTabs}
      path="/managed-certificates"
      columns={columns}
      sort="-created_at"
      search
      refetchMs={5000}
      filters={[
        { name: 'status', label: 'Status', all: 'All statuses', choices: statuses },
        { name: 'paused', label: 'Paused', all: 'Paused and active', choices: { true: 'Paused', false: 'Active' } },
      ]}
      details={one => ({ title: titleOf(one), content: <Details of={one} accounts={accounts} /> })}
      create={canWrite && { label: 'Issue certificate', onClick: () => issue(accounts) }}
      empty={{
        icon: FileBadge,
        text: 'Issue a certificate for names in your DNS zones. You need an ACME account first, for example at Let’s Encrypt.',
      }}
    />
  )
}

const titleOf = ({ names }: ManagedCertificateView): string =>
  names.length > 2 ? `${names.slice(0, 2).join(', ')}, and ${names.length - 2} more` : names.join(', ')

const CertificateStatus = ({ of: { paused, status } }: { of: ManagedCertificateView }) =>
  paused && tones[status] !== 'busy' ? (
    <Status status="paused" />
  ) : (
    <Status status={status} label={statuses[status]} tone={tones[status]} />
  )

function Details({ of: one, accounts }: { of: ManagedCertificateView; accounts: readonly AcmeAccountView[] }) {
  return (
    <div className="flex flex-col gap-4">
      {one.last_error && <p className="text-bad wrap-anywhere">{one.last_error.detail}</p>}
      {one.action_id !== null && <FollowedAction key={one.action_id} id={one.action_id} />}
      <Facts
        rows={[
          ['Status', <CertificateStatus key="" of={one} />],
          ['Names', one.names.join(', ')],
          ['ACME account', accounts.find(account => account.id === one.acme_account_id)?.name ?? one.acme_account_id],
          ['Profile', one.profile],
          ['Private key', keyText(one)],
          ['Server', one.deliver.server_id !== null && <ServerLink key="" id={one.deliver.server_id} />],
          ['Install profile', one.deliver.install_profile],
          ['Issued', <RelativeTime key="" at={one.issued_at} fallback="Never" />],
          [
            'Installed',
            one.deliver.server_id !== null && <RelativeTime key="" at={one.deliver.installed_at} fallback="Not yet" />,
          ],
          ['Expires', one.not_after && <RelativeTime key="" at={one.not_after} />],
          ['Revoked', one.revoked_at && <RelativeTime key="" at={one.revoked_at} />],
          ['Renewal', one.renew === 'auto' ? 'Automatic' : 'By request'],
          ['Next renewal', <RelativeTime key="" at={one.next_renewal_at} past="now" fallback="Not scheduled" />],
          [
            'Suggested renewal',
            one.ari && (
              <>
                <RelativeTime at={one.ari.start} /> to <RelativeTime at={one.ari.end} />
              </>
            ),
          ],
          ['Failed attempts', one.attempts > 0 && String(one.attempts)],
          ['Notes', one.notes],
          ['ID', <CopyableText key="" text={one.id} />],
        ]}
      />
    </div>
  )
}

function ServerLink({ id }: { id: string }) {
  const server = useOne<ServerView>(`/servers/${id}`).data
  return (
    <Link to="/servers/$id" params={{ id }} className="text-accent hover:underline">
      {server?.name ?? id}
    </Link>
  )
}

const keyTypes: Record<string, string> = {
  'ec-256': 'ECDSA P-256',
  'ec-384': 'ECDSA P-384',
  'rsa-2048': 'RSA 2048',
  'rsa-3072': 'RSA 3072',
  'rsa-4096': 'RSA 4096',
}

function keyText({ key, key_available, not_after }: ManagedCertificateView): string {
  const type = keyTypes[key.type] ?? key.type
  if (key.mode === 'agent') return `${type}, only on the server`
  if (key.mode === 'csr') return `${type}, not stored here`
  if (key.retention === 'keep') return `${type}, stored encrypted`
  if (not_after === null || key_available) return `${type}, can be downloaded once`
  return `${type}, downloaded and destroyed here`
}

const download = (one: ManagedCertificateView) =>
  confirm<ManagedCertificateDownload>({
    title: `Download ${titleOf(one)}?`,
    text: downloadText(one),
    action: 'Download certificate',
    call: { method: 'POST', path: `/managed-certificates/${one.id}/download` },
    send: {
      invalidates,
      onSuccess: ({ chain, private_key }) =>
        showSecret({
          title: titleOf(one),
          description:
            private_key === null
              ? 'The certificate and its issuers in PEM format.'
              : 'The certificate, its issuers, and the private key in PEM format. Store the private key where only your server can read it.',
          wide: true,
          value: `${chain}${private_key ?? ''}`,
          file: `certificate ${one.names[0]}`,
        }),
    },
  })

function downloadText({ key, key_available }: ManagedCertificateView): string {
  if (key.mode !== 'hub') return 'This shows the certificate and its issuers. The private key is not stored here.'
  if (key.retention === 'keep')
    return 'This shows the certificate with its private key. The download is recorded in the audit log.'
  return key_available
    ? 'This shows the certificate with its private key. The private key leaves only once: it is destroyed here by this download, and can’t be shown again.'
    : 'The private key was downloaded before, and is no longer stored here. Renew the certificate to get one with a new key.'
}

const renew = (one: ManagedCertificateView) =>
  openForm<ActionView>({
    title: 'Renew certificate',
    description: `A new certificate is issued for ${titleOf(one)}.`,
    initial: { force: false },
    call: values => ({ method: 'POST', path: `/managed-certificates/${one.id}/renew`, body: { force: values.force } }),
    send: { toast: 'Renewal started', invalidates },
    fields: (
      <CheckboxField
        name="force"
        label="Renew even if it was issued within the last 24 hours"
        hint="Certificate authorities limit how often the same names are issued."
      />
    ),
  })

const reasons = {
  unspecified: 'Unspecified',
  key_compromise: 'The private key was exposed',
  affiliation_changed: 'The organization changed',
  superseded: 'Replaced by another certificate',
  cessation_of_operation: 'No longer in use',
}

const revoke = (one: ManagedCertificateView) =>
  openForm<ActionView>({
    title: 'Revoke certificate',
    description: `The current certificate for ${titleOf(one)} becomes invalid, and servers that use it can no longer be reached safely. This can’t be undone.`,
    initial: { reason: 'unspecified' },
    call: values => ({ method: 'POST', path: `/managed-certificates/${one.id}/revoke`, body: { reason: values.reason } }),
    send: { toast: 'Revocation started', invalidates },
    fields: <SelectField name="reason" label="Reason" choices={reasons} />,
  })

const text = (value: unknown): string | null => (value === '' || value == null ? null : String(value))

const bodyOf = (values: Values) => ({
  names: values.names,
  acme_account_id: values.acme_account_id,
  profile: text(values.profile),
  renew: values.renew,
  ...keyBody(values),
})

function keyBody(values: Values) {
  const { 'key.mode': mode, 'key.type': type } = values
  if (mode === 'csr') return { key: { mode }, csr: values.csr }
  if (mode === 'hub') return { key: { mode, type, retention: values['key.retention'] } }
  const [server_id, install_profile] = String(values.deliver).split(' ')
  return { key: { mode, type }, ...(values.deliver !== '' && { deliver: { server_id, install_profile } }) }
}

const issue = (accounts: readonly AcmeAccountView[]) =>
  openForm<ManagedCertificateView>({
    title: 'Issue certificate',
    wide: true,
    initial: {
      ...{ names: [], acme_account_id: accounts.find(one => one.status === 'valid')?.id ?? '', profile: '', renew: 'auto' },
      ...{ 'key.mode': 'hub', 'key.type': 'ec-256', 'key.retention': 'once', csr: '', deliver: '' },
    },
    call: values => ({ method: 'POST', path: '/managed-certificates', body: bodyOf(values) }),
    send: { toast: 'Issuing started', invalidates },
    fields: <IssueFields accounts={accounts} />,
  })

function IssueFields({ accounts }: { accounts: readonly AcmeAccountView[] }) {
  const { values } = useForm()
  return (
    <>
      <ListField
        name="names"
        label="Names"
        placeholder="example.com, *.example.com"
        hint="Each name must be in one of your DNS zones. A wildcard covers one level of subdomains."
      />
      <AccountField accounts={accounts} />
      <SelectField
        name="key.mode"
        label="Private key"
        choices={[
          ['hub', 'Create it here'],
          ['agent', 'Create it on a server'],
          ['csr', 'I have a certificate request (CSR)'],
        ]}
      />
      {values['key.mode'] === 'csr' ? (
        <RequestField />
      ) : (
        <>
          <SelectField name="key.type" label="Key type" choices={keyTypes} />
          {values['key.mode'] === 'agent' ? (
            <DeliverField />
          ) : (
            <SelectField
              name="key.retention"
              label="After the first download"
              hint="A new key is created for each renewal."
              choices={[
                ['once', 'Destroy the private key here'],
                ['keep', 'Keep the private key, encrypted'],
              ]}
            />
          )}
        </>
      )}
      <RenewFields />
    </>
  )
}

/** The servers whose owners allow it. */
function DeliverField() {
  const { rows: agents, hasMore, loadMore } = useList<AgentView>('/agents', { sort: 'name' })
  useEffect(() => {
    if (hasMore) loadMore()
  })
  const places = agents.flatMap(({ server_id: id, name, install_profiles }) =>
    install_profiles.map(profile => [`${id} ${profile}`, `${name}: ${profile}`] as const),
  )
  return (
    <SelectField
      name="deliver"
      label="Install on"
      hint={
        <>
          The certificate is installed there, and the private key never leaves the server. The owner of a server allows this with{' '}
          <a href="/docs/agent-commands#certificates" className="text-accent underline">
            an install profile
          </a>
          .
        </>
      }
      choices={[['', places.length > 0 ? 'Choose a server' : 'No server allows it yet'] as const, ...places]}
    />
  )
}

const RequestField = () => (
  <TextareaField
    name="csr"
    label="Certificate request"
    mono
    rows={6}
    hint="In PEM format, with exactly these names. Never paste the private key."
  />
)

const RenewFields = () => (
  <>
    <SelectField
      name="renew"
      label="Renewal"
      choices={[
        ['auto', 'Automatic'],
        ['manual', 'By request'],
      ]}
    />
    <TextField name="profile" label="Profile" hint="Profile of the certificate authority, such as shortlived. Optional." />
  </>
)

const edit = (one: ManagedCertificateView, accounts: readonly AcmeAccountView[]) =>
  openForm<ManagedCertificateView>({
    title: 'Edit managed certificate',
    submitLabel: 'Save changes',
    wide: true,
    initial: {
      ...{ acme_account_id: one.acme_account_id, renew: one.renew, profile: one.profile ?? '' },
      ...{ tags: one.tags, notes: one.notes, csr: one.csr ?? '' },
    },
    call: values => ({
      method: 'PATCH',
      path: `/managed-certificates/${one.id}`,
      ifMatch: one.version,
      body: {
        ...{ acme_account_id: values.acme_account_id, renew: values.renew, profile: text(values.profile) },
        ...{ tags: values.tags, notes: values.notes },
        ...(one.key.mode === 'csr' && { csr: values.csr }),
      },
    }),
    send: { toast: 'Managed certificate saved', invalidates },
    fields: (
      <>
        <AccountField accounts={accounts} />
        {one.key.mode === 'csr' && <RequestField />}
        <RenewFields />
        <ListField name="tags" label="Tags" />
        <TextareaField name="notes" label="Notes" />
      </>
    ),
  })
