import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { Button } from '../../../parts/button'
import { Code, Copied } from '../../../parts/code'
import { Confirm, Dialog } from '../../../parts/dialog'
import { CheckField, Form, More, SecretField, SelectField, TextField, useForm } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { Tag } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useSend, type Listed } from '../../../queries'
import { usePerson } from '../../../session'
import { keySnippets, type WholeKey } from './key-snippets'

const path = '/dns/providers/builtin/tsig-keys'

const algorithms = [
  'hmac-sha256',
  'hmac-sha512',
  'hmac-sha384',
  'hmac-sha224',
  'hmac-sha1',
  'hmac-md5',
] as const satisfies TsigKeyView['algorithm'][]

/** Keys that other name servers sign with. The secret of one is shown when it is made, and never again. */
export function TsigKeys({ list }: { list: Listed<TsigKeyView> }) {
  const { mayWrite } = usePerson()
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<WholeKey | null>(null)
  const [leaving, setLeaving] = useState<TsigKeyView | null>(null)
  const send = useSend<WholeKey>({
    quiet: true,
    stale: ['/dns/providers'],
    onDone: key => {
      setMaking(false)
      setMade(key)
    },
  })
  const remove = useSend({ done: 'Key deleted', stale: ['/dns/providers'], onDone: () => setLeaving(null) })
  return (
    <Card
      title="TSIG keys"
      flush
      actions={
        mayWrite && (
          <Button small onClick={() => setMaking(true)}>
            New key
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
              <Ago at={one.created_at} />
            </span>
            {mayWrite && (
              <Button
                small
                kind="quiet"
                aria-label={`Delete the key ${one.name}`}
                icon={<Trash2 className="size-4" aria-hidden />}
                onClick={() => setLeaving(one)}
              />
            )}
          </li>
        ))}
        {!list.isLoading && list.rows.length === 0 && (
          <li className="p-4 text-muted">None. A secondary needs one to transfer a zone.</li>
        )}
      </ul>
      <Dialog open={isMaking} onClose={() => setMaking(false)} title="New TSIG key">
        <Form
          initial={{ name: '', algorithm: 'hmac-sha256', secret: '', allow_md5: false }}
          call={({ name, algorithm, secret, allow_md5 }) => ({
            method: 'POST',
            path,
            body: { name, algorithm, ...(secret !== '' && { secret }), ...(allow_md5 === true && { allow_md5 }) },
          })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => setMaking(false)}
          action="Make the key"
        >
          <TextField name="name" label="Name" mono hint="A domain name, such as that of the secondary." autoFocus />
          <SelectField name="algorithm" label="Algorithm" choices={algorithms.map(one => [one, one] as const)} />
          <Md5 />
          <More label="A secret that there is already" names={['secret']}>
            <SecretField name="secret" label="Secret" hint="Base64 of 16 octets or more. Empty makes one." autoComplete="off" />
          </More>
        </Form>
      </Dialog>
      <Dialog
        open={made !== null}
        onClose={() => setMade(null)}
        title="Keep this key"
        description="Its secret is shown this once."
        wide
      >
        {made && (
          <div className="flex flex-col gap-3">
            <Copied text={made.secret} label="the secret" />
            {keySnippets(made).map(([server, text]) => (
              <Code key={server} label={server} text={text} />
            ))}
          </div>
        )}
      </Dialog>
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={`Delete the key ${leaving?.name ?? ''}?`}
        action="Delete key"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path: `${path}/${leaving!.id}` })}
      >
        Whoever signs with it is refused from now on. A key that secondaries or the catalog use stays.
      </Confirm>
    </Card>
  )
}

function Md5() {
  const { values } = useForm()
  if (values.algorithm !== 'hmac-md5') return null
  return <CheckField name="allow_md5" label="Make it all the same" hint="MD5 is broken. Some routers have nothing else." />
}
