import type { AuthenticationResponseJSON } from '@simplewebauthn/browser'
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client'
import { Button } from '../../parts/button'
import { canUsePasskeys, requestPasskey } from './passkeys'

interface PasskeyButtonProps {
  label: string
  /** Asks for a passkey, and sends it. */
  sign(): Promise<unknown>
}

/** A button that signs in with a passkey, and the error if that fails. */
function PasskeyButton({ label, sign }: PasskeyButtonProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const start = async () => {
    setBusy(true)
    setError(null)
    try {
      await sign()
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="mt-3">
      <Button className="w-full" icon={Fingerprint} disabled={isBusy} onClick={() => void start()}>
        {label}
      </Button>
      {error && (
        <p role="alert" className="mt-2 text-bad">
          {error}
        </p>
      )}
    </div>
  )
}

/** Signs in with a passkey, without email address and password. Hidden if the browser does not support passkeys. */
export function SignInWithPasskey({ onDone }: { onDone(): void }) {
  if (!canUsePasskeys()) return null
  const sign = async () => {
    const options = await call({ method: 'POST', path: '/sessions/passkey/options' })
    const credential = await requestPasskey(options)
    await call({ method: 'POST', path: '/sessions/passkey', body: { credential } })
    onDone()
  }
  return <PasskeyButton label="Sign in with a passkey" sign={sign} />
}

/** The second factors with which a request is accepted. Codes always are. */
export interface SecondFactors {
  /** `one_time_code`, `recovery_code`, `passkey`. */
  methods: readonly string[]
  passkeyOptions: unknown
}

interface SecondFactorPasskeyProps {
  factors: SecondFactors
  send(passkey: AuthenticationResponseJSON): Promise<unknown>
}

/** Sends a passkey as the second factor. Hidden if there is none, or if the browser does not support passkeys. */
export const SecondFactorPasskey = ({ factors: { methods, passkeyOptions }, send }: SecondFactorPasskeyProps) =>
  methods.includes('passkey') &&
  canUsePasskeys() && <PasskeyButton label="Use a passkey" sign={async () => await send(await requestPasskey(passkeyOptions))} />
