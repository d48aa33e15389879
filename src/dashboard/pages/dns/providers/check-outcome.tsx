import type { DnsProviderChecked } from '../../../../features/dns/accounts/shapes'
import { StatusIcon } from '../../../parts/status'

const advice: Partial<Record<NonNullable<DnsProviderChecked['error']>['failure'], string>> = {
  unreachable: 'Look at the address and the port, and at the network policy of the workspace: private addresses may be closed.',
  timeout: 'Something drops the packets: look at firewalls between the hub and the server.',
  unauthorized: 'Make a new key or token there, with the rights that the handbook names, and put it in.',
  throttled: 'Wait a while: it is asked again by itself.',
  invalid_answer: 'Something else answers at this address.',
}

/** What a check found, and what to do about it. */
export function CheckOutcome({ state, detail, warnings, error }: DnsProviderChecked) {
  if (error)
    return (
      <div className="flex items-start gap-2 text-bad">
        <StatusIcon state="failed" className="mt-0.5 size-4" />
        <div className="min-w-0 wrap-anywhere">
          <p>{error.detail}</p>
          <p className="text-[13px] text-muted">
            {advice[error.failure]}{' '}
            <a className="text-accent underline" href="/docs/dns-providers#how-it-does">
              {error.failure}
            </a>
          </p>
        </div>
      </div>
    )
  return (
    <div className="flex items-start gap-2">
      <StatusIcon state={state} className="mt-0.5 size-4" />
      <div className="min-w-0 wrap-anywhere">
        <p>It is reached, and lets the hub in{detail ? `: ${detail}` : ''}.</p>
        {warnings.map(one => (
          <p key={one} className="text-warn">
            {one}
          </p>
        ))}
      </div>
    </div>
  )
}
