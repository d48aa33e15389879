import type { ServerQuoteView } from '../../../features/servers/shapes'
import { CheckboxField } from '../../parts/form'
import { Meter } from '../../parts/meter'
import { formatAmount } from './amounts'

interface QuoteProps {
  quote: ServerQuoteView | null
  /** Whether servers of the cloud cost money. */
  hasPrices: boolean
  isCurrent: boolean
  /** Whether a size is chosen. */
  hasSize: boolean
  /** The field of the surrounding form that accepts an unknown price. */
  acceptUnknown: string
}

/** The price of an order, and the rest of the spending cap. */
export function Quote({ quote, hasPrices, isCurrent, hasSize, acceptUnknown }: QuoteProps) {
  if (!hasPrices) return <p className="text-muted">Runs on your own hardware: there is no price.</p>
  const monthly = quote?.price.monthly
  if (!hasSize) return <p className="text-muted">Choose a size to see the price.</p>
  if (!quote) return <p className="text-muted">Reading the price…</p>
  if (!monthly)
    return (
      <>
        <p className="mb-2">The cloud doesn’t report the price.</p>
        <CheckboxField name={acceptUnknown} label="Buy it at an unknown price" />
      </>
    )
  const { currency } = quote.price
  const total = Number(quote.committed ?? 0) + Number(monthly)
  const left = quote.cap === null ? null : Number(quote.cap) - total
  return (
    <div className={isCurrent ? '' : 'opacity-60'}>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-2xl font-semibold">{formatAmount(monthly, currency)}</span>
        <span className="text-muted">per month, including taxes</span>
      </p>
      {quote.cap === null || left === null ? (
        <p className="mt-1 text-[13px] text-muted">
          {formatAmount(total, currency)} per month for the whole account. It has no spending cap.
        </p>
      ) : (
        <div className="mt-2">
          <Meter label="Spending cap" value={total} max={Number(quote.cap)} />
          <p className={`mt-1 text-[13px] ${left < 0 ? 'text-bad' : 'text-muted'}`}>
            {left < 0
              ? `${formatAmount(-left, currency)} above the cap of ${formatAmount(quote.cap, currency)}.`
              : `${formatAmount(left, currency)} of ${formatAmount(quote.cap, currency)} left after this.`}
          </p>
        </div>
      )}
    </div>
  )
}
