import { useEffect } from 'react'
import type { ServerView } from '../../../features/servers/shapes'
import { useBlocked, useForm } from '../../parts/form'
import { TextWithCode } from '../../parts/text-with-code'
import { useAccounts, useCloudKinds } from './accounts'
import { Quote } from './quote'
import { acceptedPrice, useQuote } from './use-quote'

/** Whether the servers of an account cost money. */
export function useHasPrices(accountId: string | null): boolean {
  const kinds = useCloudKinds().data?.data
  const account = useAccounts().data?.data.find(one => one.id === accountId)
  return kinds?.find(one => one.kind === account?.kind)?.capabilities.has_prices ?? false
}

/** The price of a draft, which the surrounding form accepts. */
export function PriceOfDraft({ server: { name, account_id, order } }: { server: ServerView }) {
  const { result, error, isCurrent } = useQuote({ name, account_id, ...order })
  const hasPrices = useHasPrices(account_id)
  useAccepted(result)
  useBlocked(!isCurrent)
  const problems = result?.problems.map(one => one.detail) ?? (error ? [error.message] : [])
  return (
    <div aria-live="polite">
      <Quote
        quote={result}
        hasPrices={hasPrices}
        isCurrent={isCurrent}
        hasSize={order?.size != null}
        acceptUnknown="params.accept_unknown_price"
      />
      {problems.map(one => (
        <p key={one} className="mt-2 text-bad">
          <TextWithCode text={one} />
        </p>
      ))}
    </div>
  )
}

/** Accepts the price that is shown, in the parameters of the action. */
export function useAccepted(quote: Parameters<typeof acceptedPrice>[0]): void {
  const { set } = useForm()
  useEffect(() => {
    const { max_monthly_price, currency } = acceptedPrice(quote)
    set({ 'params.max_monthly_price': max_monthly_price ?? null, 'params.currency': currency ?? null })
  }, [quote])
}
