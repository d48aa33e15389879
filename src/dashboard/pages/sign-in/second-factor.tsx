import { useState } from 'react'
import { Button } from '../../parts/button'
import { Form, TextField } from '../../parts/form'
import { useSend } from '../../queries'
import { useAfterSignIn } from './after-sign-in'
import { SignInFrame } from './frame'
import { canUsePasskeys, requestPasskey } from './passkeys'

/** The second factor required after a correct password. */
export interface Challenge {
  login: { email: string; password: string }
  /** Available methods: `one_time_code`, `recovery_code`, `passkey`. */
  methods: readonly string[]
  passkeyOptions: unknown
}

/** The second step of a sign-in: a one-time code, a recovery code or a passkey. */
export function SecondFactor({ challenge, onBack }: { challenge: Challenge; onBack(): void }) {
  const entered = useAfterSignIn()
  const [error, setError] = useState<string | null>(null)
  const send = useSend({ quiet: true, onSuccess: entered })
  const byPasskey = async () => {
    setError(null)
    try {
      const passkey = await requestPasskey(challenge.passkeyOptions)
      await send.mutateAsync({ method: 'POST', path: '/sessions', body: { ...challenge.login, passkey } })
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed))
    }
  }
  const hasCodes = challenge.methods.some(one => one !== 'passkey')
  return (
    <SignInFrame
      title="Two-factor authentication"
      description={hasCodes ? 'Enter the code from your authenticator app, or a recovery code.' : 'Use your passkey to continue.'}
    >
      {hasCodes && (
        <Form
          plain
          initial={{ code: '' }}
          call={values => ({
            method: 'POST',
            path: '/sessions',
            body: { ...challenge.login, code: String(values.code).replace(/\s/g, '') },
          })}
          send={send.mutateAsync}
          submitLabel="Sign in"
        >
          <TextField name="code" label="Code" autoComplete="one-time-code" autoFocus mono />
        </Form>
      )}
      {challenge.methods.includes('passkey') && canUsePasskeys() && (
        <Button className="mt-3 w-full" onClick={() => void byPasskey()}>
          Use a passkey
        </Button>
      )}
      {error && (
        <p role="alert" className="mt-2 text-bad">
          {error}
        </p>
      )}
      <Button kind="quiet" className="mt-3 w-full" onClick={onBack}>
        Back
      </Button>
    </SignInFrame>
  )
}
