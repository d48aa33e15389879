import { useMemo } from 'react'
import type { ServerQuoteView } from '../../../features/servers/shapes'
import type { Values } from '../../parts/values'
import { useDryRun, type DryRun } from '../../queries'

// The price and its currency are not known before the response, so the dry run accepts any. The order itself names the price that was
// shown.
const anyPrice = { max_monthly_price: '999999999', accept_unknown_price: true }

/** What creating a server would cost, and why it may be impossible. Null asks nothing. */
export function useQuote(body: Values | null): DryRun<ServerQuoteView> {
  const { result, ...rest } = useDryRun<ServerQuoteView>(
    body && { method: 'POST', path: '/servers', query: { dry_run: true }, body: { ...body, ...anyPrice } },
  )
  const shown = useMemo(
    () => result && { ...result, problems: result.problems.filter(one => one.pointer !== '#/currency') },
    [result],
  )
  return { result: shown, ...rest }
}

/** The price that was shown, as a request accepts it. */
export const acceptedPrice = (quote: ServerQuoteView | null): Values =>
  quote?.price.monthly ? { max_monthly_price: quote.price.monthly, currency: quote.price.currency } : {}
