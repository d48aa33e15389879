import { useState } from 'react'
import type { OneTimeCodeSecret, NewRecoveryCodes } from '../../../features/people/second-factors/shapes'
import type { UserView } from '../../../features/people/profile/shapes'
import { Button } from '../../parts/button'
import { CopyableText, Code } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Form, SecretField, TextField } from '../../parts/form'
import { Card, Facts } from '../../parts/page'
import { Status } from '../../parts/status'
import { useSend } from '../../queries'
import { QrCode } from './qr-code'

type OpenDialog = 'enable' | 'regenerate' | 'disable' | null
const invalidates = ['/users', '/sessions']

/** Two-factor authentication with one-time codes, and recovery codes. */
export function OneTimeCodes({ user }: { user: UserView }) {
  const { one_time_codes: isOn, recovery_codes_remaining: remaining } = user.second_factor
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const [secret, setSecret] = useState<OneTimeCodeSecret | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setDialog(null)
  const setUp = useSend<OneTimeCodeSecret>({
    quiet: true,
    onSuccess: created => {
      close()
      setSecret(created)
    },
  })
  const showCodes = (created: NewRecoveryCodes) => {
    close()
    setSecret(null)
    setCodes(created.recovery_codes ?? [])
  }
  const regenerate = useSend<NewRecoveryCodes>({ quiet: true, invalidates, onSuccess: showCodes })
  const disable = useSend({ quiet: true, toast: 'One-time codes disabled', invalidates, onSuccess: close })
  return (
    <Card
      title="One-time codes"
      actions={
        isOn ? (
          <>
            <Button small onClick={() => setDialog('regenerate')}>
              Generate recovery codes
            </Button>
            <Button small kind="danger" onClick={() => setDialog('disable')}>
              Disable
            </Button>
          </>
        ) : (
          <Button small onClick={() => setDialog('enable')}>
            Enable
          </Button>
        )
      }
    >
      <Facts
        rows={[
          ['Status', <Status status={isOn ? 'enabled' : 'disabled'} tone={isOn ? 'ok' : 'idle'} />],
          ['Recovery codes remaining', isOn ? remaining : null],
        ]}
      />
      <p className="mt-2 text-[13px] text-muted">
        When you sign in, you enter a code from your authenticator app after your password.
      </p>
      <Dialog open={dialog === 'enable'} onClose={close} title="Enable one-time codes">
        <PasswordForm path="/users/me/one-time-codes" send={setUp} action="Continue" onClose={close} />
      </Dialog>
      <Dialog
        open={dialog === 'regenerate'}
        onClose={close}
        title="Generate new recovery codes"
        description="Your current recovery codes stop working."
      >
        <PasswordForm path="/users/me/recovery-codes" send={regenerate} action="Generate codes" onClose={close} />
      </Dialog>
      <Dialog
        open={dialog === 'disable'}
        onClose={close}
        title="Disable one-time codes?"
        description="You can then sign in with only your password."
      >
        <PasswordForm path="/users/me/one-time-codes/disable" send={disable} action="Disable one-time codes" onClose={close} />
      </Dialog>
      <Dialog open={secret !== null} onClose={() => setSecret(null)} title="Scan the QR code">
        {secret?.secret && secret.uri && (
          <>
            <QrCode text={secret.uri} label="QR code with the secret" />
            <p className="my-3 text-muted">Scan it with your authenticator app, or enter this key:</p>
            <CopyableText text={secret.secret} label="the key" />
            <div className="mt-4">
              <Form<NewRecoveryCodes>
                initial={{ code: '' }}
                call={values => ({
                  method: 'POST',
                  path: '/users/me/one-time-codes/enable',
                  body: { code: String(values.code).replace(/\s/g, '') },
                })}
                send={{ toast: 'One-time codes enabled', invalidates, onSuccess: showCodes }}
                onCancel={() => setSecret(null)}
                submitLabel="Enable one-time codes"
              >
                <TextField name="code" label="Code" autoComplete="one-time-code" mono autoFocus />
              </Form>
            </div>
          </>
        )}
      </Dialog>
      <Dialog
        open={codes !== null}
        onClose={() => setCodes(null)}
        title="Save your recovery codes"
        description="Use one of these codes if you lose your authenticator app. Each works once. They are shown only once."
      >
        {codes && <Code label="recovery codes" text={codes.join('\n')} />}
      </Dialog>
    </Card>
  )
}

interface PasswordFormProps {
  path: string
  send: { mutateAsync: Parameters<typeof Form>[0]['send']; isPending: boolean }
  action: string
  onClose(): void
}

/** Asks for the password before a sensitive change. */
const PasswordForm = ({ path, send, action, onClose }: PasswordFormProps) => (
  <Form
    initial={{ password: '' }}
    call={values => ({ method: 'POST', path, body: values })}
    send={send.mutateAsync}
    pending={send.isPending}
    onCancel={onClose}
    submitLabel={action}
  >
    <SecretField name="password" label="Your password" autoComplete="current-password" autoFocus />
  </Form>
)
