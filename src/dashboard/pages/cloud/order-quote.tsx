import { useEffect, useRef } from 'react'
import type { FieldProblem } from '../../../core/problem'
import type { CloudKindView } from '../../../features/servers/accounts/shapes'
import type { ServerQuoteView } from '../../../features/servers/shapes'
import { useForm, type Values } from '../../parts/form'
import { labelOf, lowerFirst } from '../../parts/labels'
import { TextWithCode } from '../../parts/text-with-code'
import { Quote } from './quote'
import { useQuote } from './use-quote'

interface OrderQuoteProps {
  /** The request body that would create the server. */
  body(values: Values): Values
  kind: CloudKindView
  onQuote(quote: ServerQuoteView): void
}

/** The price of what the surrounding form orders. Problems of the order are shown at its fields. */
export function OrderQuote({ body, kind, onQuote }: OrderQuoteProps) {
  const { values, showFound } = useForm()
  const { result, error, isCurrent } = useQuote(body(values))
  const last = useRef<ServerQuoteView | null>(null)
  if (result) last.current = result
  const quote = last.current
  useEffect(() => {
    if (result) onQuote(result)
  }, [result])
  const problems = result?.problems ?? error?.errors ?? []
  const atFields = problems.filter((one): one is FieldProblem => one.pointer !== null && one.code !== 'required')
  useEffect(() => showFound(atFields), [JSON.stringify(atFields)])
  const missing = problems
    .filter(one => one.code === 'required')
    .map(one => lowerFirst(labelOf(one.pointer!.replaceAll('/', '.'))))
  const others = [
    ...problems.filter(one => one.pointer === null).map(one => one.detail),
    ...(error && error.errors.length === 0 ? [error.message] : []),
  ]
  return (
    <section
      aria-label="Price"
      aria-live="polite"
      className="rounded-lg border border-line bg-surface p-3 max-lg:border-strong-line max-lg:shadow-lg lg:p-4"
    >
      <Quote
        quote={quote}
        hasPrices={kind.capabilities.has_prices}
        isCurrent={isCurrent && result !== null}
        hasSize={values.size !== null}
        acceptUnknown="accept_unknown_price"
      />
      {others.map(one => (
        <p key={one} className="mt-3 rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">
          <TextWithCode text={one} />
        </p>
      ))}
      {missing.length > 0 && <p className="mt-3 text-[13px] text-muted">Still required: {missing.join(', ')}.</p>}
    </section>
  )
}
