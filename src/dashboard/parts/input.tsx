import type { ComponentProps, ReactNode } from 'react'
import { pairsOf, type Choices } from './choices'

const look =
  'w-full min-w-0 rounded-md border border-strong-line bg-surface px-2.5 placeholder:text-muted placeholder:italic disabled:opacity-60 aria-invalid:border-bad'

interface Text {
  value: string
  onText(text: string): void
  /** For code: addresses, names, patterns. */
  mono?: boolean | undefined
}
const classOf = (mono: boolean | undefined, className: string) => `${className} ${look} ${mono ? 'font-mono text-[13px]' : ''}`

/** A text input without a label. */
export const Input = ({ onText, mono, className = 'h-9', ...rest }: Omit<ComponentProps<'input'>, 'value'> & Text) => (
  <input
    spellCheck={mono ? false : undefined}
    {...rest}
    onChange={event => onText(event.target.value)}
    className={classOf(mono, className)}
  />
)

/** A text input with several lines. */
export const Textarea = ({ onText, mono, ...rest }: Omit<ComponentProps<'textarea'>, 'value'> & Text) => (
  <textarea
    spellCheck={mono ? false : undefined}
    {...rest}
    onChange={event => onText(event.target.value)}
    className={classOf(mono, 'block py-1.5')}
  />
)

interface CheckboxProps {
  checked: boolean
  onCheck(checked: boolean): void
  disabled?: boolean
  title?: string
  /** Aligned to the first line of a long label. */
  multiline?: boolean
  className?: string
  children: ReactNode
}

/** A checkbox with its label. */
export const Checkbox = ({ checked, onCheck, disabled, title, multiline, className = '', children }: CheckboxProps) => (
  <label className={`flex gap-2 ${multiline ? 'items-start' : 'items-center'} ${className}`} title={title}>
    <input
      type="checkbox"
      className={multiline ? 'mt-1' : ''}
      checked={checked}
      disabled={disabled}
      onChange={event => onCheck(event.target.checked)}
    />
    {children}
  </label>
)

interface SelectProps extends Omit<ComponentProps<'select'>, 'value'>, Text {
  choices?: Choices
  /** Options before the choices. */
  children?: ReactNode
}

/** A select without a label. */
export const Select = ({ onText, mono, className = 'h-9', choices = [], children, ...rest }: SelectProps) => (
  <select {...rest} onChange={event => onText(event.target.value)} className={classOf(mono, className)}>
    {children}
    {pairsOf(choices).map(([value, label]) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </select>
)
