import { useState } from 'react'
import { Button } from '../../parts/button'
import { Form, TextField } from '../../parts/form'
import { useSend } from '../../queries'
import { useEntered } from './entered'
import { Door } from './frame'
import { usesPasskeys, withPasskey } from './passkeys'

/** What is left to prove once the password was right. */
export interface Challenge {
  login: { email: string; password: string }
  /** Ways there are: `one_time_code`, `recovery_code`, `passkey`. */
  methods: readonly string[]
  passkeyOptions: unknown
}

/** The second step of a sign-in: a code of the program, a recovery code, or a passkey. */
export function SecondFactor({ challenge, onBack }: { challenge: Challenge; onBack(): void }) {
  const entered = useEntered()
  const [error, setError] = useState<string | null>(null)
  const send = useSend({ quiet: true, onDone: entered })
  const byPasskey = async () => {
    setError(null)
    try {
      const passkey = await withPasskey(challenge.passkeyOptions)
      await send.mutateAsync({ method: 'POST', path: '/sessions', body: { ...challenge.login, passkey } })
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed))
    }
  }
  const hasCodes = challenge.methods.some(one => one !== 'passkey')
  return (
    <Door
      title="One more step"
      lead={hasCodes ? 'The code that your program shows, or one of your recovery codes.' : 'Your passkey.'}
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
          pending={send.isPending}
          action="Sign in"
        >
          <TextField name="code" label="Code" autoComplete="one-time-code" autoFocus mono />
        </Form>
      )}
      {challenge.methods.includes('passkey') && usesPasskeys() && (
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
    </Door>
  )
}
