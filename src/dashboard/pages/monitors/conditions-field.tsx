import { Plus, X } from 'lucide-react'
import type { MonitorTypeView } from '../../../features/monitors/shapes'
import { Button } from '../../parts/button'
import { FieldFrame, inputLook, useForm } from '../../parts/form'

// What is often asked of each source; sources themselves are the type's to tell.
const examples: Record<string, readonly string[]> = {
  STATUS: ['[STATUS] >= 500'],
  RESPONSE_TIME: ['[RESPONSE_TIME] > 2s'],
  BODY: ['not [BODY] == pat(*Welcome*)', 'not [BODY].status == UP'],
  CERTIFICATE_EXPIRATION: ['[CERTIFICATE_EXPIRATION] < 14d'],
  DNS_ANSWER: ['[DNS_ANSWER] != any(192.0.2.1, 192.0.2.2)'],
  TLS_VERSION: ['[TLS_VERSION] < 1.3'],
  HEADER: ['[HEADER].Content-Type != pat(application/json*)'],
}

interface ConditionsFieldProps {
  name: 'down_if' | 'degraded_if'
  label: string
  sources: MonitorTypeView['sources']
}

/** Conditions, one a line, each with what is wrong with it beside it. */
export function ConditionsField({ name, label, sources }: ConditionsFieldProps) {
  const { values, set } = useForm()
  const conditions = (values[name] ?? []) as string[]
  const put = (next: readonly string[]) => set({ [name]: next })
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{label}</legend>
      <div className="flex flex-col gap-2">
        {conditions.map((condition, at) => (
          <FieldFrame key={at} name={`${name}.${at}`} label={`Condition ${at + 1}`}>
            {attributes => (
              <div className="flex gap-1">
                <input
                  {...attributes}
                  value={condition}
                  spellCheck={false}
                  onChange={event => put(conditions.with(at, event.target.value))}
                  className={`h-9 font-mono text-[13px] ${inputLook}`}
                />
                <Button
                  kind="quiet"
                  aria-label={`Remove condition ${at + 1}`}
                  icon={<X className="size-4" aria-hidden />}
                  onClick={() => put(conditions.filter((_, place) => place !== at))}
                />
              </div>
            )}
          </FieldFrame>
        ))}
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-1.5">
        <Button small icon={<Plus className="size-3.5" aria-hidden />} onClick={() => put([...conditions, ''])}>
          Add a condition
        </Button>
        {sources.flatMap(source =>
          (examples[source] ?? []).map(text => (
            <button
              key={text}
              type="button"
              onClick={() => put([...conditions, text])}
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
