import { Button } from '../../parts/button'
import { Form, TextField } from '../../parts/form'
import { useSend } from '../../queries'
import { useAfterSignIn } from './after-sign-in'
import { SignInFrame } from './frame'
import { SecondFactorPasskey, type SecondFactors } from './passkey-button'

/** The second factor required after a correct password. */
export interface Challenge extends SecondFactors {
  login: { email: string; password: string }
}

/** The second step of a sign-in: a one-time code, a recovery code or a passkey. */
export function SecondFactor({ challenge, onBack }: { challenge: Challenge; onBack(): void }) {
  const entered = useAfterSignIn()
  const send = useSend({ quiet: true, onSuccess: entered })
  return (
    <SignInFrame title="Two-factor authentication" description="Enter the code from your authenticator app, or a recovery code.">
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
      <SecondFactorPasskey
        factors={challenge}
        send={passkey => send.mutateAsync({ method: 'POST', path: '/sessions', body: { ...challenge.login, passkey } })}
      />
      <Button kind="quiet" className="mt-3 w-full" onClick={onBack}>
        Back
      </Button>
    </SignInFrame>
  )
}
