import { Plus, X } from 'lucide-react'
import type { MonitorTypeView } from '../../../features/monitors/definition/shapes'
import { Button } from '../../parts/button'
import { FieldError, FieldFrame, useField, useForm } from '../../parts/form'
import { Input } from '../../parts/input'

// Common conditions by placeholder.
const examples: Record<string, readonly string[]> = {
  STATUS: ['[STATUS] >= 500'],
  RESPONSE_TIME: ['[RESPONSE_TIME] > 2s'],
  BODY: ['[BODY] != pat(*Welcome*)', '[BODY].status != UP'],
  CERTIFICATE_EXPIRATION: ['[CERTIFICATE_EXPIRATION] < 14d'],
  DOMAIN_EXPIRATION: ['[DOMAIN_EXPIRATION] < 30d'],
  DNS_ANSWER: ['[DNS_ANSWER] != any(192.0.2.1, 192.0.2.2)'],
  TLS_VERSION: ['[TLS_VERSION] < 1.3'],
  HEADER: ['[HEADER].Content-Type != pat(application/json*)'],
}

interface ConditionsFieldProps {
  name: 'down_if' | 'degraded_if'
  label: string
  sources: MonitorTypeView['sources']
}

/** A list of conditions, each with its own validation error. */
export function ConditionsField({ name, label, sources }: ConditionsFieldProps) {
  const { values, set } = useForm()
  const error = useField({ name, label })
  const conditions = (values[name] ?? []) as string[]
  // Empty ones are not sent.
  const placeOf = (at: number) => conditions.slice(0, at).filter(one => one.trim() !== '').length
  const update = (next: readonly string[]) => set({ [name]: next })
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{label}</legend>
      <div className="flex flex-col gap-2">
        {conditions.map((condition, at) => (
          <FieldFrame
            key={at}
            name={`${name}.${condition.trim() === '' ? `empty.${at}` : placeOf(at)}`}
            label={`Condition ${at + 1}`}
            reads={[]}
          >
            {attributes => (
              <div className="flex gap-1">
                <Input {...attributes} value={condition} onText={text => update(conditions.with(at, text))} mono />
                <Button
                  kind="quiet"
                  aria-label={`Remove condition ${at + 1}`}
                  icon={X}
                  onClick={() => update(conditions.filter((_, place) => place !== at))}
                />
              </div>
            )}
          </FieldFrame>
        ))}
      </div>
      <FieldError error={error} />
      <div className="mt-2 flex flex-wrap items-center gap-1.5">
        <Button small icon={Plus} onClick={() => update([...conditions, ''])}>
          Add condition
        </Button>
        {sources.some(source => examples[source]) && <span className="ml-1 text-xs text-muted">Examples:</span>}
        {sources.flatMap(source =>
          (examples[source] ?? []).map(text => (
            <button
              key={text}
              type="button"
              onClick={() => update([...conditions, text])}
              className="rounded bg-idle-soft px-1.5 py-0.5 font-mono text-xs text-idle hover:text-ink"
            >
              {text}
            </button>
          )),
        )}
      </div>
    </fieldset>
  )
}
