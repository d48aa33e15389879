import { TextWithCode } from './text-with-code'
import { Eye, EyeOff } from 'lucide-react'
import { createContext, useContext, useId, useState, type FormEvent, type ReactNode } from 'react'
import { ApiError, type Call } from '../client'
import { useSend, type SendOptions } from '../queries'
import { ApiCall } from './api-call'
import { Button } from './button'
import { pairsOf, toggled, type Choices } from './choices'
import { Checkbox, Input, Select, Textarea } from './input'
import { Problem } from './problem'

export type Values = Record<string, unknown>

interface FormContext {
  values: Values
  set(changed: Values): void
  errorOf(name: string): string | null
}
const Context = createContext<FormContext | null>(null)

/** Values of the surrounding form, and a setter. For custom fields. */
export function useForm(): FormContext {
  const form = useContext(Context)
  if (!form) throw new Error('useForm must be used inside a Form')
  return form
}

export interface FormProps<Result> {
  initial: Values
  /** Returns the API call for the values, which is sent and shown by “View as API call”. */
  call(values: Values): Call
  /** What happens after the call. Or a function that sends it, if that takes more than one request. */
  send?: SendOptions<Result> | ((call: Call) => Promise<unknown>)
  /** Label of the submit button. */
  submitLabel: string
  onCancel?: () => void
  /** A full-width button and no “View as API call”, for the sign-in pages. */
  plain?: boolean
  /** Whether the form is empty again after it was sent. */
  resets?: boolean
  children: ReactNode
}

/**
 * A form for an API call. Fields are named after the fields of the request body. Errors of a field are shown next to it, others above
 * the button.
 */
export function Form<Result>({ initial, call, send, submitLabel, onCancel, plain, resets, children }: FormProps<Result>) {
  const own = useSend<Result>({ quiet: true, ...(typeof send === 'object' && send) })
  const [values, setValues] = useState(initial)
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const [fieldsWithErrors, setFieldsWithErrors] = useState<readonly string[]>([])
  const errorOf = (name: string) => {
    const pointer = `#/${name.replaceAll('.', '/')}`
    return error?.errors.find(one => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`))?.detail ?? null
  }
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    setError(null)
    setSending(true)
    try {
      await (typeof send === 'function' ? send : own.mutateAsync)(call(values))
      if (resets) setValues(initial)
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      setError(failure)
      const named = [...form.querySelectorAll<HTMLElement>('[data-field]')].map(field => field.dataset.field!)
      const wrong = named.filter(name => failure.errors.some(one => isAt(one.pointer, name)))
      setFieldsWithErrors(wrong)
      // Focus the first field with an error.
      form.querySelector<HTMLElement>(`[data-field="${CSS.escape(wrong[0] ?? '')}"] :is(input, select, textarea)`)?.focus()
    } finally {
      setSending(false)
    }
  }
  const rest = error && error.errors.filter(one => !fieldsWithErrors.some(name => isAt(one.pointer, name)))
  return (
    <Context.Provider value={{ values, set: changed => setValues(before => ({ ...before, ...changed })), errorOf }}>
      <form onSubmit={event => void submit(event)} noValidate className="flex flex-col gap-4">
        {children}
        {error && rest && (rest.length > 0 || error.errors.length === 0) && (
          <Problem error={new ApiError(error.status, error.code, error.message, rest, error.requestId, error.body)} />
        )}
        <div className={`flex flex-wrap items-center gap-2 ${plain ? '' : 'justify-end'}`}>
          {!plain && (
            <div className="grow">
              <ApiCall call={() => call(values)} />
            </div>
          )}
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
          <Button kind="primary" type="submit" disabled={isSending} className={plain ? 'w-full' : ''}>
            {submitLabel}
          </Button>
        </div>
      </form>
    </Context.Provider>
  )
}

const isAt = (pointer: string, name: string) => {
  const at = `#/${name.replaceAll('.', '/')}`
  return pointer === at || pointer.startsWith(`${at}/`)
}

interface FieldProps {
  /** Name of the field in the request body. Dots address nested fields: `options.method`. */
  name: string
  label: string
  /** Help text below the field. */
  hint?: ReactNode
}

/** Attributes that connect an input to its label, hint, and error. */
export interface InputAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface FrameProps extends FieldProps {
  children(attributes: InputAttributes): ReactNode
}

/** Label, hint, and error around an input of any kind. */
export function FieldFrame({ name, label, hint, children }: FrameProps) {
  const id = useId()
  const error = useForm().errorOf(name)
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined
  return (
    <div data-field={name} className="min-w-0">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error !== null })}
      {error && (
        <p id={`${id}-error`} className="mt-1 text-bad first-letter:uppercase">
          <TextWithCode text={error} />
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="mt-1 text-[13px] text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

interface ControlProps extends FieldProps {
  children(attributes: InputAttributes, value: unknown, change: (value: unknown) => void): ReactNode
}

/** A field with the value of its name. */
function Control({ name, label, hint, children }: ControlProps) {
  const { values, set } = useForm()
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => children(attributes, values[name], value => set({ [name]: value }))}
    </FieldFrame>
  )
}

interface TextProps extends FieldProps {
  type?: 'text' | 'email' | 'url' | 'search' | 'datetime-local' | 'time'
  placeholder?: string | undefined
  autoComplete?: string
  autoFocus?: boolean
  mono?: boolean
  disabled?: boolean
  /** ID of a list of suggestions. */
  list?: string
}

/** A single-line text field. */
export const TextField = ({ name, label, hint, ...rest }: TextProps) => (
  <Control {...{ name, label, hint }}>
    {(attributes, value, change) => <Input {...attributes} {...rest} value={String(value ?? '')} onText={change} />}
  </Control>
)

/** A password or other secret, hidden by default. */
export function SecretField({ name, label, hint, ...rest }: Omit<TextProps, 'type' | 'mono'>) {
  const [isShown, setShown] = useState(false)
  const Icon = isShown ? EyeOff : Eye
  return (
    <Control {...{ name, label, hint }}>
      {(attributes, value, change) => (
        <div className="relative">
          <Input
            {...attributes}
            {...rest}
            type={isShown ? 'text' : 'password'}
            spellCheck={false}
            value={String(value ?? '')}
            onText={change}
            className="h-9 pr-9"
          />
          <button
            type="button"
            aria-label={isShown ? 'Hide' : 'Show'}
            onClick={() => setShown(!isShown)}
            className="absolute top-1 right-1 rounded p-1.5 text-muted hover:bg-hover"
          >
            <Icon className="size-4" aria-hidden />
          </button>
        </div>
      )}
    </Control>
  )
}

interface TextareaProps extends FieldProps {
  rows?: number
  mono?: boolean
  placeholder?: string
}

/** A multi-line text field. */
export const TextareaField = ({ name, label, hint, rows = 4, ...rest }: TextareaProps) => (
  <Control {...{ name, label, hint }}>
    {(attributes, value, change) => (
      <Textarea {...attributes} {...rest} rows={rows} value={String(value ?? '')} onText={change} />
    )}
  </Control>
)

interface NumberProps extends FieldProps {
  unit?: string
  min?: number
  max?: number
  placeholder?: string
}

/** A number field. Empty is null. */
export const NumberField = ({ name, label, hint, unit, ...rest }: NumberProps) => (
  <Control {...{ name, label, hint }}>
    {(attributes, value, change) => (
      <div className="flex items-center gap-2">
        <Input
          {...attributes}
          {...rest}
          type="number"
          value={String(value ?? '')}
          onText={text => change(text === '' ? null : Number(text))}
          className="h-9 max-w-32"
        />
        {unit && <span className="text-muted">{unit}</span>}
      </div>
    )}
  </Control>
)

/** A select field. */
export const SelectField = ({ name, label, hint, choices }: FieldProps & { choices: Choices }) => (
  <Control {...{ name, label, hint }}>
    {(attributes, value, change) => <Select {...attributes} value={String(value ?? '')} onText={change} choices={choices} />}
  </Control>
)

/** A checkbox. */
export function CheckboxField({ name, label, hint }: FieldProps) {
  const { values, set, errorOf } = useForm()
  const id = useId()
  const error = errorOf(name)
  return (
    <div data-field={name}>
      <div className="flex items-start gap-2">
        <input
          id={id}
          type="checkbox"
          className="mt-1"
          checked={values[name] === true}
          onChange={event => set({ [name]: event.target.checked })}
          aria-describedby={hint ? `${id}-hint` : undefined}
        />
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
      </div>
      {error && (
        <p className="mt-1 pl-5 text-bad first-letter:uppercase">
          <TextWithCode text={error} />
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="pl-5 text-[13px] text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

interface CheckboxesProps extends FieldProps {
  choices: Choices
  /** Name of the form value, if it isn't the name of the field. */
  value?: string
  className?: string
  mono?: boolean
}

/** A checkbox for each choice. The value is the list of the checked ones. */
export function CheckboxesField({ choices, value: own, className = 'flex flex-wrap gap-3', mono, ...field }: CheckboxesProps) {
  const { values, set } = useForm()
  const value = own ?? field.name
  const checked = values[value] as readonly string[]
  return (
    <FieldFrame {...field}>
      {attributes => (
        <div {...attributes} role="group" aria-label={field.label} className={className}>
          {pairsOf(choices).map(([one, text]) => (
            <Checkbox
              key={one}
              className={mono ? 'font-mono text-[13px]' : ''}
              checked={checked.includes(one)}
              onCheck={isChecked => set({ [value]: toggled(checked, one, isChecked) })}
            >
              {text}
            </Checkbox>
          ))}
        </div>
      )}
    </FieldFrame>
  )
}

/** Splits a text into its words. */
export const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter(word => word !== '')

/** A list of short values separated by commas or spaces: tags, IP addresses. */
export function ListField({ name, label, hint, placeholder }: FieldProps & { placeholder?: string }) {
  const { values, set } = useForm()
  const [text, setText] = useState(((values[name] ?? []) as string[]).join(', '))
  const change = (to: string) => {
    setText(to)
    set({ [name]: wordsOf(to) })
  }
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => <Input {...attributes} placeholder={placeholder} spellCheck={false} value={text} onText={change} />}
    </FieldFrame>
  )
}

/** Two columns of fields on wide screens. */
export const Columns = ({ children }: { children: ReactNode }) => <div className="grid gap-4 sm:grid-cols-2">{children}</div>

/** A collapsible group of advanced fields. Opens automatically if one of them has an error. */
export function Collapsible({ label, names, children }: { label: string; names?: readonly string[]; children: ReactNode }) {
  const { errorOf } = useForm()
  const hasError = names?.some(name => errorOf(name) !== null) ?? false
  return (
    <details className="rounded-md border border-line" open={hasError || undefined}>
      <summary className="px-3 py-2 font-medium">{label}</summary>
      <div className="flex flex-col gap-4 border-t border-line p-3">{children}</div>
    </details>
  )
}
