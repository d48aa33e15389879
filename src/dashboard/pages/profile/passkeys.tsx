import type { PasskeyView } from '../../../features/people/passkeys/shapes'
import type { SignInMethods } from '../../../features/people/sign-in/shapes'
import { call, ApiError, type Call } from '../../client'
import { Button } from '../../parts/button'
import { SecretField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { confirmDelete, openForm } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { RelativeTime } from '../../parts/time'
import { toast } from '../../parts/toast'
import { useList, useOne, useSend } from '../../queries'
import { createPasskey, canUsePasskeys } from '../sign-in/passkeys'

// Browsers support passkeys only for hostnames, over HTTPS or on localhost (WebAuthn section 5.1.3).
const unavailableText = {
  ip_address: 'Passkeys need a hostname, but the URL of this hub uses an IP address.',
  plain_http: 'Passkeys need HTTPS, or a hub on localhost.',
}
const invalidates = ['/passkeys', '/users', '/sessions']

/** The user's passkeys. */
export function Passkeys() {
  const methods = useOne<SignInMethods>('/sessions/methods')
  const list = useList<PasskeyView>('/passkeys')
  const register = useSend({ toast: 'Passkey added', invalidates })
  // Requests the options, lets the browser create the passkey, and registers it.
  const add = async (request: Call) => {
    const { name, ...reauthentication } = request.body as { name: string; password: string }
    const options = await call({ ...request, body: reauthentication })
    try {
      const credential = await createPasskey(options)
      await register.mutateAsync({ method: 'POST', path: '/passkeys', body: { ...(name !== '' && { name }), credential } })
    } catch (error) {
      if (!(error instanceof ApiError)) toast.error(error)
    }
  }
  const unavailable =
    methods.data && !methods.data.passkeys.available
      ? unavailableText[methods.data.passkeys.reason ?? 'plain_http']
      : canUsePasskeys()
        ? null
        : 'This browser does not support passkeys.'
  return (
    <Card
      id="passkeys"
      title="Passkeys"
      actions={
        unavailable === null && (
          <Button small onClick={() => addPasskey(add)}>
            Add passkey
          </Button>
        )
      }
    >
      {unavailable !== null && <p className="text-muted">{unavailable}</p>}
      {unavailable === null && list.rows.length === 0 && (
        <p className="text-muted">No passkeys yet. Sign in with your fingerprint, face, or PIN instead of a password.</p>
      )}
      <ul className="flex flex-col gap-2">
        {list.rows.map(one => (
          <li key={one.id} className="flex items-center gap-2">
            <span className="min-w-0 grow">
              <span className="block font-medium wrap-anywhere">{one.name}</span>
              <span className="text-[13px] text-muted">
                last used <RelativeTime at={one.last_used_at} />
              </span>
            </span>
            <Menu
              label={`Actions for ${one.name}`}
              items={[
                { label: 'Rename passkey', onSelect: () => rename(one) },
                { label: 'Delete passkey', danger: true, onSelect: () => remove(one) },
              ]}
            />
          </li>
        ))}
      </ul>
    </Card>
  )
}

const addPasskey = (send: (request: Call) => Promise<unknown>) =>
  openForm({
    title: 'Add passkey',
    description: 'In the next step, your browser asks you to create the passkey.',
    submitLabel: 'Continue',
    initial: { name: '', password: '' },
    call: values => ({ method: 'POST', path: '/passkeys/options', body: values }),
    send,
    fields: (
      <>
        <TextField name="name" label="Name" placeholder="e.g. Laptop" hint="Optional. Default: the name of your browser." />
        <SecretField name="password" label="Your password" autoComplete="current-password" />
      </>
    ),
  })

const rename = ({ id, name }: PasskeyView) =>
  openForm({
    title: 'Rename passkey',
    initial: { name },
    call: values => ({ method: 'PATCH', path: `/passkeys/${id}`, body: values }),
    send: { toast: 'Passkey renamed', invalidates },
    fields: <TextField name="name" label="Name" autoFocus />,
  })

const remove = ({ id }: PasskeyView) =>
  confirmDelete({
    noun: 'passkey',
    path: `/passkeys/${id}`,
    invalidates,
    text: 'You can no longer sign in with it. Your device keeps offering it until you delete it there too.',
  })
