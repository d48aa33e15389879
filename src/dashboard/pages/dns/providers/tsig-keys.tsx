import { Trash2 } from 'lucide-react'
import type { TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { Advanced, Group } from '../../../parts/advanced'
import { Button } from '../../../parts/button'
import { Code } from '../../../parts/code'
import { CheckboxField, SecretField, SelectField, TextField, useForm } from '../../../parts/form'
import { confirmDelete, openForm } from '../../../parts/open-dialog'
import { Card } from '../../../parts/page'
import { showSecret } from '../../../parts/secret'
import { Tag } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { type LoadedList } from '../../../queries'
import { usePerson } from '../../../session'
import { keySnippets, type NewKey } from './key-snippets'

const path = '/dns/providers/builtin/tsig-keys'

const algorithms = [
  'hmac-sha256',
  'hmac-sha512',
  'hmac-sha384',
  'hmac-sha224',
  'hmac-sha1',
  'hmac-md5',
] as const satisfies TsigKeyView['algorithm'][]

/** TSIG keys of the workspace. A secret is shown only on creation. */
export function TsigKeys({ list }: { list: LoadedList<TsigKeyView> }) {
  const { canWrite } = usePerson()
  return (
    <Card
      title="TSIG keys"
      flush
      actions={
        canWrite && (
          <Button small onClick={createKey}>
            Create key
          </Button>
        )
      }
    >
      <ul className="divide-y divide-line">
        {list.rows.map(one => (
          <li key={one.id} className="flex items-center gap-2 px-4 py-2">
            <code className="min-w-0 font-mono text-[13px] wrap-anywhere">{one.name}</code>
            <Tag>{one.algorithm}</Tag>
            <span className="grow text-right text-[13px] text-muted">
              <RelativeTime at={one.created_at} />
            </span>
            {canWrite && (
              <Button small kind="quiet" aria-label={`Delete key ${one.name}`} icon={Trash2} onClick={() => deleteKey(one)} />
            )}
          </li>
        ))}
        {!list.isLoading && list.rows.length === 0 && (
          <li className="p-4 text-muted">No keys yet. Secondaries need a key to transfer zones.</li>
        )}
      </ul>
    </Card>
  )
}

const createKey = () =>
  openForm<NewKey>({
    title: 'Create TSIG key',
    submitLabel: 'Create key',
    initial: { name: '', algorithm: 'hmac-sha256', secret: '', allow_md5: false },
    call: ({ name, algorithm, secret, allow_md5 }) => ({
      method: 'POST',
      path,
      body: { name, algorithm, ...(secret !== '' && { secret }), ...(allow_md5 === true && { allow_md5 }) },
    }),
    send: { invalidates: ['/dns/providers'], onSuccess: showKey },
    fields: (
      <>
        <TextField name="name" label="Name" mono hint="A domain name, for example the hostname of the secondary." autoFocus />
        <SelectField name="algorithm" label="Algorithm" choices={algorithms} />
        <Md5 />
        <Advanced>
          <Group label="Use an existing secret">
            <SecretField
              name="secret"
              label="Secret"
              hint="At least 16 bytes, Base64-encoded. Leave empty to generate one."
              autoComplete="off"
            />
          </Group>
        </Advanced>
      </>
    ),
  })

function Md5() {
  const { values } = useForm()
  if (values.algorithm !== 'hmac-md5') return null
  return (
    <CheckboxField
      name="allow_md5"
      label="Allow HMAC-MD5"
      hint="MD5 is insecure. Use it only for devices that support nothing else."
    />
  )
}

const showKey = (key: NewKey) =>
  showSecret({
    title: 'TSIG key created',
    description: 'Copy the secret now. It is shown only once.',
    wide: true,
    value: key.secret,
    file: `TSIG key ${key.name}`,
    usage: keySnippets(key).map(([server, text]) => <Code key={server} label={server} text={text} />),
  })

const deleteKey = ({ id, name }: TsigKeyView) =>
  confirmDelete({
    noun: 'key',
    name,
    path: `${path}/${id}`,
    invalidates: ['/dns/providers'],
    text: 'Requests signed with this key will be rejected. A key used by a secondary or the catalog zone can’t be deleted.',
  })
