import { useState } from 'react'
import type { PasskeyView } from '../../../access/passkey-shapes'
import type { SignInMethods } from '../../../access/session-shapes'
import { call, Refused, type Call } from '../../client'
import { Button } from '../../parts/button'
import { Confirm, Dialog } from '../../parts/dialog'
import { Form, SecretField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { Card } from '../../parts/page'
import { Ago } from '../../parts/time'
import { toast } from '../../parts/toast'
import { useList, useOne, useSend } from '../../queries'
import { makePasskey, usesPasskeys } from '../door/passkeys'

type Asked = { what: 'new' } | { what: 'name' | 'delete'; passkey: PasskeyView } | null
// Browsers decide where there are passkeys (WebAuthn section 5.1.3): at names alone, and over HTTPS or on this machine.
const because = {
  ip_address: 'Passkeys need a name in the address of the hub. This one has a number.',
  plain_http: 'Passkeys need HTTPS, or a hub at localhost.',
}
const stale = ['/passkeys', '/users', '/sessions']

/** Passkeys: a finger, a face or a PIN instead of password and code. */
export function Passkeys() {
  const methods = useOne<SignInMethods>('/sessions/methods')
  const list = useList<PasskeyView>('/passkeys')
  const [asked, setAsked] = useState<Asked>(null)
  const close = () => setAsked(null)
  const rename = useSend({ quiet: true, done: 'Renamed', stale, onDone: close })
  const remove = useSend({ done: 'The passkey signs in no more', stale, onDone: close })
  const keep = useSend({ done: 'Passkey added', stale, onDone: close })
  // Two calls with the browser’s question between them: the second has what it answered.
  const add = async (asked: Call) => {
    const { name, ...proof } = asked.body as { name: string; password: string }
    const options = await call({ ...asked, body: proof })
    try {
      const credential = await makePasskey(options)
      await keep.mutateAsync({ method: 'POST', path: '/passkeys', body: { ...(name !== '' && { name }), credential } })
    } catch (error) {
      if (!(error instanceof Refused)) toast.failed(error)
    }
  }
  const why =
    methods.data && !methods.data.passkeys.possible
      ? because[methods.data.passkeys.reason ?? 'plain_http']
      : usesPasskeys()
        ? null
        : 'This browser has no passkeys here.'
  return (
    <Card
      title="Passkeys"
      actions={
        why === null && (
          <Button small onClick={() => setAsked({ what: 'new' })}>
            Add
          </Button>
        )
      }
    >
      {why !== null && <p className="text-muted">{why}</p>}
      {why === null && list.rows.length === 0 && (
        <p className="text-muted">None. With one you sign in by a finger, a face or a PIN.</p>
      )}
      <ul className="flex flex-col gap-2">
        {list.rows.map(one => (
          <li key={one.id} className="flex items-center gap-2">
            <span className="min-w-0 grow">
              <span className="block truncate font-medium">{one.name}</span>
              <span className="text-[13px] text-muted">
                last used <Ago at={one.last_used_at} />
              </span>
            </span>
            <Menu
              label={`More for ${one.name}`}
              items={[
                { label: 'Rename', onSelect: () => setAsked({ what: 'name', passkey: one }) },
                { label: 'Remove', bad: true, onSelect: () => setAsked({ what: 'delete', passkey: one }) },
              ]}
            />
          </li>
        ))}
      </ul>
      <Dialog open={asked?.what === 'new'} onClose={close} title="Add a passkey" description="Your browser asks for it next.">
        <Form
          initial={{ name: '', password: '' }}
          call={values => ({ method: 'POST', path: '/passkeys/options', body: values })}
          send={add}
          onCancel={close}
          action="Go on"
        >
          <TextField name="name" label="Name" placeholder="Laptop" hint="To tell it from others. The browser’s when empty." />
          <SecretField name="password" label="Your password" autoComplete="current-password" />
        </Form>
      </Dialog>
      <Dialog open={asked?.what === 'name'} onClose={close} title="Rename the passkey">
        {asked?.what === 'name' && (
          <Form
            initial={{ name: asked.passkey.name }}
            call={values => ({ method: 'PATCH', path: `/passkeys/${asked.passkey.id}`, body: values })}
            send={rename.mutateAsync}
            pending={rename.isPending}
            onCancel={close}
            action="Rename"
          >
            <TextField name="name" label="Name" autoFocus />
          </Form>
        )}
      </Dialog>
      <Confirm
        open={asked?.what === 'delete'}
        onClose={close}
        title="Remove the passkey?"
        action="Remove passkey"
        pending={remove.isPending}
        onConfirm={() => asked?.what === 'delete' && remove.mutate({ method: 'DELETE', path: `/passkeys/${asked.passkey.id}` })}
      >
        It signs in no more. The device goes on offering it until it is deleted there too.
      </Confirm>
    </Card>
  )
}
