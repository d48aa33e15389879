import { useSend } from '../queries'
import { settingsOf } from './adapter-settings'
import { Button } from './button'
import { useForm } from './form'
import { StatusIcon, type Tone } from './status'

/** Result of checking an external system with its credentials. */
interface Check {
  state: 'ok' | 'failing'
  detail: string | null
  warnings: string[]
  error: { code: string; detail: string } | null
}

/** What the checks of a kind of account are called, and where they are explained. */
export interface CheckedAccounts {
  /** “provider” */
  noun: string
  /** Path of the handbook section on failed checks. */
  help: string
}

const advice: Readonly<Record<string, string>> = {
  unreachable: 'Check the address, the port, and the network policy of the workspace, which may deny private addresses.',
  timeout: 'Check for firewalls between the hub and the server.',
  unauthorized: 'Create a new key or token with the permissions listed in the handbook, and save it in the settings.',
  invalid_response: 'A different service is responding at this address.',
}

const throttled = (noun: string) =>
  `The ${noun} limits the request rate. Wait a few minutes before you try again; automatic checks are delayed.`

/** Result of a check, with advice. */
export function CheckOutcome({ state, detail, warnings, error, of: { noun, help } }: Check & { of: CheckedAccounts }) {
  if (error)
    return (
      <div className="flex items-start gap-2 text-bad">
        <StatusIcon status="failed" className="mt-0.5 size-4" />
        <div className="min-w-0 wrap-anywhere">
          <p>{error.detail}</p>
          <p className="text-[13px] text-muted">
            {error.code === 'throttled' ? throttled(noun) : advice[error.code]}{' '}
            <a className="text-accent underline" href={help}>
              {error.code}
            </a>
          </p>
        </div>
      </div>
    )
  return (
    <div className="flex items-start gap-2">
      <StatusIcon status={state} className="mt-0.5 size-4" />
      <div className="min-w-0 wrap-anywhere">
        <p>Connected{detail ? `: ${detail}` : ''}</p>
        {warnings.map(one => (
          <p key={one} className="text-warn">
            {one}
          </p>
        ))}
      </div>
    </div>
  )
}

interface TestSettingsProps {
  kind: { kind: string; settings: Record<string, unknown>; secrets: readonly string[] }
  of: CheckedAccounts
  /** API path that tests settings. */
  path: string
}

/** Tests the settings as entered. For forms. */
export function TestSettings({ kind, of, path }: TestSettingsProps) {
  const { values, showError } = useForm()
  const send = useSend<Check>({ quiet: true })
  const body = { kind: kind.kind, settings: settingsOf(kind, values) }
  return (
    <div className="rounded-md border border-line p-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-40 grow text-muted">Checks that Bailiwick can reach the {of.noun}, without saving anything.</p>
        <Button disabled={send.isPending} onClick={() => send.mutate({ method: 'POST', path, body }, { onError: showError })}>
          {send.isPending ? 'Testing…' : 'Test settings'}
        </Button>
      </div>
      <div aria-live="polite" className="mt-3 empty:hidden">
        {send.data && <CheckOutcome {...send.data} of={of} />}
      </div>
    </div>
  )
}

/** Status of an account, for `Status`. */
export function accountStatus({ state, warnings }: { state: 'ok' | 'failing' | 'unknown'; warnings: readonly string[] }): {
  status: string
  tone: Tone
  label: string
} {
  if (state === 'failing') return { status: state, tone: 'bad', label: 'failing' }
  if (state === 'unknown') return { status: state, tone: 'idle', label: 'not checked yet' }
  return warnings.length > 0
    ? { status: 'warning', tone: 'warn', label: 'warnings' }
    : { status: state, tone: 'ok', label: 'healthy' }
}

/** Choices to filter accounts by state. */
export const accountStates = { ok: 'Healthy', failing: 'Failing', unknown: 'Unknown' }
