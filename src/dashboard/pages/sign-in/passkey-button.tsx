import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../client'
import { Button } from '../../parts/button'
import { canUsePasskeys, requestPasskey } from './passkeys'

/** Signs in with a passkey, without email address and password. Hidden if the browser does not support passkeys. */
export function PasskeyButton({ onDone }: { onDone(): void }) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  if (!canUsePasskeys()) return null
  const sign = async () => {
    setBusy(true)
    setError(null)
    try {
      const options = await call({ method: 'POST', path: '/sessions/passkey/options' })
      const credential = await requestPasskey(options)
      await call({ method: 'POST', path: '/sessions/passkey', body: { credential } })
      onDone()
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="mt-3">
      <Button className="w-full" icon={Fingerprint} disabled={isBusy} onClick={() => void sign()}>
        Sign in with a passkey
      </Button>
      {error && (
        <p role="alert" className="mt-2 text-bad">
          {error}
        </p>
      )}
    </div>
  )
}
