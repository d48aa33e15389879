import type { CloudAccountView } from '../../../features/servers/accounts/shapes'
import { Meter } from '../../parts/meter'
import { formatAmount } from './amounts'

/** What the servers of an account cost, with a bar against its cap. Null for clouds without prices. */
export function SpendBar({ account: { committed, spend } }: { account: CloudAccountView }) {
  if (committed.monthly === null) return null
  const { monthly_cap: cap } = spend
  const amount = formatAmount(committed.monthly, committed.currency ?? spend.currency)
  return (
    <span className="block">
      <span className="block">
        {amount}
        {cap !== null && <span className="text-muted"> of {formatAmount(cap, spend.currency)}</span>}
      </span>
      {cap !== null && (
        <span className="mt-1 block">
          <Meter label="Committed spend" value={Number(committed.monthly)} max={Number(cap)} />
        </span>
      )}
    </span>
  )
}
