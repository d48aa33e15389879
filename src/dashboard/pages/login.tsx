import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { SignInMethods } from '../../features/people/sign-in/shapes'
import { ApiError, type Call } from '../client'
import { Form, SecretField, TextField } from '../parts/form'
import { useOne, useSend } from '../queries'
import { useAfterSignIn } from './sign-in/after-sign-in'
import { SignInFrame } from './sign-in/frame'
import { SignInWithPasskey } from './sign-in/passkey-button'
import { SecondFactor, type Challenge } from './sign-in/second-factor'

/** Sign-in with a password, and a second factor if the user has one, or with a passkey. */
export default function Login() {
  const navigate = useNavigate()
  const entered = useAfterSignIn()
  const methods = useOne<SignInMethods>('/sessions/methods')
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  const isFresh = methods.data?.setup_open ?? false
  useEffect(() => {
    if (isFresh) void navigate({ to: '/setup', replace: true })
  }, [isFresh])
  const sign = useSend({ quiet: true, onSuccess: entered })
  // If the password is correct but a second factor is required, continue with the next step instead of showing an error.
  const send = async (call: Call) => {
    try {
      await sign.mutateAsync(call)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'second_factor_required') throw error
      setChallenge({
        login: call.body as Challenge['login'],
        methods: error.body.methods as string[],
        passkeyOptions: error.body.passkey_options,
      })
    }
  }
  if (challenge) return <SecondFactor challenge={challenge} onBack={() => setChallenge(null)} />
  return (
    <SignInFrame title="Sign in">
      <Form
        plain
        initial={{ email: '', password: '' }}
        call={values => ({ method: 'POST', path: '/sessions', body: values })}
        send={send}
        submitLabel="Sign in"
      >
        <TextField name="email" label="Email" type="email" autoComplete="username webauthn" autoFocus />
        <SecretField name="password" label="Password" autoComplete="current-password" />
      </Form>
      {methods.data?.passkeys.available && <SignInWithPasskey onDone={entered} />}
      <div className="mt-4 flex min-h-10 flex-col gap-2 text-[13px] text-muted">
        {methods.data &&
          (methods.data.password_reset_by_mail ? (
            <Link to="/reset" className="text-accent underline">
              Forgot password?
            </Link>
          ) : (
            <p>
              Forgot password? The operator of this installation can create a reset link with{' '}
              <code className="font-mono">bailiwick user reset-link</code>.
            </p>
          ))}
        {methods.data?.sign_up.open && (
          <Link to="/sign-up" className="text-accent underline">
            Create account
          </Link>
        )}
      </div>
    </SignInFrame>
  )
}
