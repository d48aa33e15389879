import { useId, type ReactNode } from 'react'

/** What label, hint and error say of an input. */
export interface InputAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface LabelledProps {
  label: string
  error: string | null
  hint?: string
  children(attributes: InputAttributes): ReactNode
}

/** An input of the editor with its label; what is wrong takes the place of the hint. */
export function Labelled({ label, error, hint, children }: LabelledProps) {
  const id = useId()
  const told = error ?? hint
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-[13px] font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': told ? `${id}-told` : undefined, 'aria-invalid': error !== null })}
      <p id={`${id}-told`} className={`mt-0.5 min-h-5 text-[13px] wrap-anywhere ${error ? 'text-bad' : 'text-muted'}`}>
        {told}
      </p>
    </div>
  )
}
