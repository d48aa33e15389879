import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { SignInMethods } from '../../../access/session-shapes'
import { Refused, type Call } from '../../client'
import { Form, SecretField, TextField } from '../../parts/form'
import { useOne, useSend } from '../../queries'
import { useEntered } from './entered'
import { Door } from './frame'
import { PasskeyButton } from './passkey-button'
import { SecondFactor, type Challenge } from './second-factor'

/** The way in: by password, with a second factor where the person has one, or by a passkey alone. */
export default function Login() {
  const navigate = useNavigate()
  const entered = useEntered()
  const methods = useOne<SignInMethods>('/sessions/methods')
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  const isFresh = methods.data?.setup_open ?? false
  useEffect(() => {
    if (isFresh) void navigate({ to: '/setup', replace: true })
  }, [isFresh])
  const sign = useSend({ quiet: true, onDone: entered })
  // The right password of somebody with a second factor is no error to show: it is the way to the next step.
  const send = async (call: Call) => {
    try {
      await sign.mutateAsync(call)
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'second_factor_required') throw error
      setChallenge({
        login: call.body as Challenge['login'],
        methods: error.body.methods as string[],
        passkeyOptions: error.body.passkey_options,
      })
    }
  }
  if (challenge) return <SecondFactor challenge={challenge} onBack={() => setChallenge(null)} />
  return (
    <Door title="Sign in">
      <Form
        plain
        initial={{ email: '', password: '' }}
        call={values => ({ method: 'POST', path: '/sessions', body: values })}
        send={send}
        pending={sign.isPending}
        action="Sign in"
      >
        <TextField name="email" label="E-mail" type="email" autoComplete="username webauthn" autoFocus />
        <SecretField name="password" label="Password" autoComplete="current-password" />
      </Form>
      {methods.data?.passkeys.possible && <PasskeyButton onDone={entered} />}
      <div className="mt-4 flex min-h-10 flex-col gap-2 text-[13px] text-muted">
        {methods.data &&
          (methods.data.password_reset_by_mail ? (
            <Link to="/reset" className="text-accent underline">
              Forgot the password?
            </Link>
          ) : (
            <p>
              Forgot the password? Whoever runs this hub makes a link with{' '}
              <code className="font-mono">bailiwick user reset-link</code>.
            </p>
          ))}
        {methods.data?.sign_up.open && (
          <Link to="/sign-up" className="text-accent underline">
            Make a login
          </Link>
        )}
      </div>
    </Door>
  )
}
