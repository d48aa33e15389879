import type { SignInMethods } from '../../../features/people/sign-in/shapes'
import { useOne } from '../../queries'

interface MailServerWarningProps {
  kind: string
  /** Settings of the channel, without those that aren’t set. */
  settings: Record<string, unknown>
}

/** Shown for an email channel that can’t send, because neither the channel nor the installation has a mail server. */
export function MailServerWarning({ kind, settings }: MailServerWarningProps) {
  const needsServer = kind === 'email' && !settings.server
  const methods = useOne<SignInMethods>(needsServer ? '/sessions/methods' : null)
  // Password resets use the mail server of the installation.
  if (!needsServer || methods.data?.password_reset_by_mail !== false) return null
  return (
    <p role="note" className="rounded-lg border border-line bg-warn-soft p-4 text-warn">
      This channel can’t send, because the installation has no mail server. Set a server for the channel, or{' '}
      <a className="underline" href="/docs/settings#bailiwick_smtp_url">
        configure the mail server of the installation
      </a>
      .
    </p>
  )
}
