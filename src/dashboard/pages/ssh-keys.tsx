import { FileKey } from 'lucide-react'
import type { SshKeyView } from '../../features/servers/ssh-keys/shapes'
import { Code, CopyableText } from '../parts/code'
import { CheckboxField, TextareaField, TextField } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { Tag } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'

const invalidates = ['/ssh-keys']

const algorithms: Record<SshKeyView['algorithm'], string> = {
  'ssh-ed25519': 'Ed25519',
  'ecdsa-sha2-nistp256': 'ECDSA P-256',
  'ecdsa-sha2-nistp384': 'ECDSA P-384',
  'ecdsa-sha2-nistp521': 'ECDSA P-521',
  'ssh-rsa': 'RSA',
  'sk-ssh-ed25519@openssh.com': 'Ed25519, security key',
  'sk-ecdsa-sha2-nistp256@openssh.com': 'ECDSA P-256, security key',
}

/** Lists and manages the SSH keys of the workspace. */
export default function SshKeys() {
  const { canWrite } = usePerson()
  const columns: TableColumns<SshKeyView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    { title: 'Default', width: '6rem', onPhone: 'plain', render: one => one.default && <Tag>default</Tag> },
    { title: 'Algorithm', width: '11rem', showFrom: 'md', onPhone: 'plain', render: one => algorithms[one.algorithm] },
    { title: 'Fingerprint', width: '38cqw', look: 'mono', showFrom: 'lg', onPhone: 'line', render: one => one.fingerprint },
    { title: 'Created', sort: 'created_at', width: '8rem', render: one => <RelativeTime at={one.created_at} /> },
    canWrite &&
      menuColumn<SshKeyView>(
        one => one.name,
        one => [
          { label: 'Edit SSH key', onSelect: () => editKey(one) },
          '-',
          {
            label: 'Delete SSH key',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'SSH key',
                name: one.name,
                path: `/ssh-keys/${one.id}`,
                invalidates,
                text: 'New servers no longer get this key. Servers that were created with it keep accepting it.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="SSH keys"
      description="Public keys for SSH access to new servers."
      path="/ssh-keys"
      columns={columns}
      sort="name"
      search
      filters={[
        { name: 'default', label: 'Default', all: 'All keys', choices: { true: 'Default keys', false: 'Other keys' } },
        { name: 'algorithm', label: 'Algorithm', all: 'All algorithms', choices: algorithms },
      ]}
      details={one => ({ title: one.name, content: <Details sshKey={one} /> })}
      create={canWrite && { label: 'Add SSH key', onClick: addKey }}
      empty={{
        icon: FileKey,
        text: 'Add your public key, so that you can log in to the servers that you create. Each person and computer should have its own.',
      }}
    />
  )
}

const Details = ({ sshKey: one }: { sshKey: SshKeyView }) => (
  <div className="flex flex-col gap-4">
    <Facts
      rows={[
        ['Algorithm', algorithms[one.algorithm]],
        ['Fingerprint', <CopyableText key="" text={one.fingerprint} label="fingerprint" />],
        ['New servers', one.default ? 'Get this key by default' : 'Get this key if it is selected'],
        ['Created', <RelativeTime key="" at={one.created_at} />],
      ]}
    />
    <Code label="Public key" text={one.public_key} wrap />
  </div>
)

const addKey = () =>
  openForm<SshKeyView>({
    title: 'Add SSH key',
    wide: true,
    initial: { name: '', public_key: '', default: false },
    call: values => ({ method: 'POST', path: '/ssh-keys', body: values }),
    send: { toast: 'SSH key added', invalidates },
    fields: (
      <>
        <NameField />
        <TextareaField
          name="public_key"
          label="Public key"
          mono
          rows={5}
          placeholder="ssh-ed25519 AAAA…"
          hint="The contents of the .pub file, such as ~/.ssh/id_ed25519.pub. Never paste the private key."
        />
        <DefaultField />
      </>
    ),
  })

const editKey = ({ id, name, default: isDefault }: SshKeyView) =>
  openForm<SshKeyView>({
    title: 'Edit SSH key',
    submitLabel: 'Save changes',
    initial: { name, default: isDefault },
    call: values => ({ method: 'PATCH', path: `/ssh-keys/${id}`, body: values }),
    send: { toast: 'SSH key saved', invalidates },
    fields: (
      <>
        <NameField />
        <DefaultField />
      </>
    ),
  })

const NameField = () => <TextField name="name" label="Name" placeholder="e.g. Alice’s laptop" autoFocus />

const DefaultField = () => (
  <CheckboxField name="default" label="Default" hint="New servers get this key, unless other keys are selected for them." />
)
