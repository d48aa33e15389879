import type { DnsProviderCheckResult } from '../../../../features/dns/accounts/shapes'
import { StatusIcon } from '../../../parts/status'

const advice: Partial<Record<NonNullable<DnsProviderCheckResult['error']>['code'], string>> = {
  unreachable: 'Check the address, the port, and the network policy of the workspace, which may deny private addresses.',
  timeout: 'Check for firewalls between the hub and the server.',
  unauthorized: 'Create a new key or token with the permissions listed in the handbook, and save it in the settings.',
  throttled: 'The provider limits the request rate. Wait a few minutes before you try again; automatic checks are delayed.',
  invalid_response: 'A different service is responding at this address.',
}

/** Result of a check, with advice. */
export function CheckOutcome({ state, detail, warnings, error }: DnsProviderCheckResult) {
  if (error)
    return (
      <div className="flex items-start gap-2 text-bad">
        <StatusIcon status="failed" className="mt-0.5 size-4" />
        <div className="min-w-0 wrap-anywhere">
          <p>{error.detail}</p>
          <p className="text-[13px] text-muted">
            {advice[error.code]}{' '}
            <a className="text-accent underline" href="/docs/dns-providers#health-checks">
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
