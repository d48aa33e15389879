import type { OneTimeCodeSecret, RecoveryCodes } from '../../../features/people/second-factors/shapes'
import type { UserView } from '../../../features/people/profile/shapes'
import { Button } from '../../parts/button'
import { CopyableText } from '../../parts/code'
import { Form, SecretField, TextField } from '../../parts/form'
import { closeDialog, openDialog, openForm } from '../../parts/open-dialog'
import { Card, Facts } from '../../parts/page'
import { showSecret } from '../../parts/secret'
import { Status } from '../../parts/status'
import type { SendOptions } from '../../queries'
import { QrCode } from './qr-code'

const invalidates = ['/users', '/sessions']

/** Two-factor authentication with one-time codes, and recovery codes. */
export function OneTimeCodes({ user }: { user: UserView }) {
  const { one_time_codes: isOn, recovery_codes_remaining: remaining } = user.second_factor
  return (
    <Card
      id="one-time-codes"
      title="Two-factor authentication"
      actions={
        isOn ? (
          <>
            <Button small onClick={regenerate}>
              Generate recovery codes
            </Button>
            <Button small kind="danger" onClick={disable}>
              Disable
            </Button>
          </>
        ) : (
          <Button small onClick={enable}>
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
        {isOn
          ? 'One-time codes: when you sign in with your password, you also enter a code from your authenticator app.'
          : 'One-time codes: when you sign in with your password, you also enter a code from an authenticator app.'}
      </p>
    </Card>
  )
}

/** Asks for the password before a sensitive change. */
const withPassword = <Result,>(
  dialog: { title: string; description?: string; submitLabel: string },
  path: string,
  send: SendOptions<Result>,
) =>
  openForm({
    ...dialog,
    initial: { password: '' },
    call: values => ({ method: 'POST', path, body: values }),
    send,
    fields: <SecretField name="password" label="Your password" autoComplete="current-password" autoFocus />,
  })

const enable = () =>
  withPassword({ title: 'Enable one-time codes', submitLabel: 'Continue' }, '/users/me/one-time-codes', {
    onSuccess: showSecretKey,
  })

const regenerate = () =>
  withPassword(
    {
      title: 'Generate new recovery codes',
      description: 'Your current recovery codes stop working.',
      submitLabel: 'Generate codes',
    },
    '/users/me/recovery-codes',
    { invalidates, onSuccess: showCodes },
  )

const disable = () =>
  withPassword(
    {
      title: 'Disable one-time codes?',
      description: 'You can then sign in with only your password.',
      submitLabel: 'Disable one-time codes',
    },
    '/users/me/one-time-codes/disable',
    { toast: 'One-time codes disabled', invalidates },
  )

const showSecretKey = ({ secret, uri }: OneTimeCodeSecret) =>
  openDialog({
    title: 'Scan the QR code',
    content: secret && uri && (
      <>
        <QrCode text={uri} label="QR code with the secret" />
        <p className="my-3 text-muted">Scan it with your authenticator app, or enter this key:</p>
        <CopyableText text={secret} label="the key" />
        <div className="mt-4">
          <Form<RecoveryCodes>
            initial={{ code: '' }}
            call={values => ({
              method: 'POST',
              path: '/users/me/one-time-codes/enable',
              body: { code: String(values.code).replace(/\s/g, '') },
            })}
            send={{ toast: 'One-time codes enabled', invalidates, onSuccess: showCodes }}
            onCancel={closeDialog}
            submitLabel="Enable one-time codes"
          >
            <TextField name="code" label="Code" autoComplete="one-time-code" mono autoFocus />
          </Form>
        </div>
      </>
    ),
  })

const showCodes = ({ recovery_codes: codes }: RecoveryCodes) =>
  showSecret({
    title: 'Save your recovery codes',
    description: 'Use one of these codes if you lose your authenticator app. Each works once. They are shown only once.',
    value: codes?.join('\n'),
    file: 'recovery codes',
  })
