import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { Button } from '../../../parts/button'
import { Code, CopyableText } from '../../../parts/code'
import { Confirm, Dialog } from '../../../parts/dialog'
import { CheckboxField, Form, Collapsible, SecretField, SelectField, TextField, useForm } from '../../../parts/form'
import { Card } from '../../../parts/page'
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
  const [isCreating, setCreating] = useState(false)
  const [createdKey, setCreatedKey] = useState<NewKey | null>(null)
  const [deleting, setDeleting] = useState<TsigKeyView | null>(null)
  return (
    <Card
      title="TSIG keys"
      flush
      actions={
        canWrite && (
          <Button small onClick={() => setCreating(true)}>
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
              <Button small kind="quiet" aria-label={`Delete key ${one.name}`} icon={Trash2} onClick={() => setDeleting(one)} />
            )}
          </li>
        ))}
        {!list.isLoading && list.rows.length === 0 && (
          <li className="p-4 text-muted">No keys yet. Secondaries need a key to transfer zones.</li>
        )}
      </ul>
      <Dialog open={isCreating} onClose={() => setCreating(false)} title="Create TSIG key">
        <Form<NewKey>
          initial={{ name: '', algorithm: 'hmac-sha256', secret: '', allow_md5: false }}
          call={({ name, algorithm, secret, allow_md5 }) => ({
            method: 'POST',
            path,
            body: { name, algorithm, ...(secret !== '' && { secret }), ...(allow_md5 === true && { allow_md5 }) },
          })}
          send={{
            invalidates: ['/dns/providers'],
            onSuccess: key => {
              setCreating(false)
              setCreatedKey(key)
            },
          }}
          onCancel={() => setCreating(false)}
          submitLabel="Create key"
        >
          <TextField name="name" label="Name" mono hint="A domain name, for example the hostname of the secondary." autoFocus />
          <SelectField name="algorithm" label="Algorithm" choices={algorithms} />
          <Md5 />
          <Collapsible label="Use an existing secret" names={['secret']}>
            <SecretField
              name="secret"
              label="Secret"
              hint="At least 16 bytes, Base64-encoded. Leave empty to generate one."
              autoComplete="off"
            />
          </Collapsible>
        </Form>
      </Dialog>
      <Dialog
        open={createdKey !== null}
        onClose={() => setCreatedKey(null)}
        title="TSIG key created"
        description="Copy the secret now. It is shown only once."
        wide
      >
        {createdKey && (
          <div className="flex flex-col gap-3">
            <CopyableText text={createdKey.secret} label="the secret" />
            {keySnippets(createdKey).map(([server, text]) => (
              <Code key={server} label={server} text={text} />
            ))}
          </div>
        )}
      </Dialog>
      <Confirm
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete key ${deleting?.name ?? ''}?`}
        confirmLabel="Delete key"
        call={() => ({ method: 'DELETE', path: `${path}/${deleting!.id}` })}
        send={{ toast: 'Key deleted', invalidates: ['/dns/providers'], onSuccess: () => setDeleting(null) }}
      >
        Requests signed with this key will be rejected. A key used by a secondary or the catalog zone can’t be deleted.
      </Confirm>
    </Card>
  )
}

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
