import { TextWithCode } from '../../../parts/text-with-code'
import { useId, type ReactNode } from 'react'
import type { InputAttributes } from '../../../parts/form'

interface LabeledInputProps {
  label: string
  error: string | null
  hint?: ReactNode
  children(attributes: InputAttributes): ReactNode
}

/** An input with its label. An error replaces the hint. */
export function LabeledInput({ label, error, hint, children }: LabeledInputProps) {
  const id = useId()
  const message = error ?? hint
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-[13px] font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': message ? `${id}-message` : undefined, 'aria-invalid': error !== null })}
      <p
        id={`${id}-message`}
        className={`mt-0.5 min-h-5 text-[13px] wrap-break-word ${error ? 'text-bad first-letter:uppercase' : 'text-muted'}`}
      >
        {error ? <TextWithCode text={error} /> : hint}
      </p>
    </div>
  )
}
