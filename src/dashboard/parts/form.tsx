import { Eye, EyeOff } from 'lucide-react'
import { createContext, useContext, useId, useState, type FormEvent, type ReactNode } from 'react'
import { Refused, type Call } from '../client'
import { ApiCall } from './api-calls'
import { Button } from './button'
import { Problem } from './problem'

export type Values = Record<string, unknown>

interface FormContext {
  values: Values
  set(changed: Values): void
  errorOf(name: string): string | null
}
const Context = createContext<FormContext | null>(null)

/** The values of the form around, and how to set them: for fields of its own. */
export function useForm(): FormContext {
  const form = useContext(Context)
  if (!form) throw new Error('a field needs a Form around it')
  return form
}

interface FormProps {
  initial: Values
  /** The call that the values make; what is sent, and what «as API call» shows. */
  call(values: Values): Call
  /** Sends it, such as `send.mutateAsync`. Errors that name a field are shown beside it, others above the button. */
  send(call: Call): Promise<unknown>
  /** The word on the button. */
  action: string
  pending?: boolean
  onCancel?: () => void
  /** A narrow form has its button over the whole width and no «as API call»: the pages before the login. */
  plain?: boolean
  children: ReactNode
}

/** The one form: fields by the names of the API's members, so that its errors find them. */
export function Form({ initial, call, send, action, pending, onCancel, plain, children }: FormProps) {
  const [values, setValues] = useState(initial)
  const [refused, setRefused] = useState<Refused | null>(null)
  const [shownBeside, setShownBeside] = useState<readonly string[]>([])
  const errorOf = (name: string) => {
    const pointer = `#/${name.replaceAll('.', '/')}`
    return refused?.errors.find(one => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`))?.detail ?? null
  }
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    setRefused(null)
    try {
      await send(call(values))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      setRefused(error)
      const named = [...form.querySelectorAll<HTMLElement>('[data-field]')].map(field => field.dataset.field!)
      const beside = named.filter(name => error.errors.some(one => isAt(one.pointer, name)))
      setShownBeside(beside)
      // The first field that is wrong is where the person has to go.
      form.querySelector<HTMLElement>(`[data-field="${CSS.escape(beside[0] ?? '')}"] :is(input, select, textarea)`)?.focus()
    }
  }
  const rest = refused && refused.errors.filter(one => !shownBeside.some(name => isAt(one.pointer, name)))
  return (
    <Context.Provider value={{ values, set: changed => setValues(before => ({ ...before, ...changed })), errorOf }}>
      <form onSubmit={event => void submit(event)} noValidate className="flex flex-col gap-4">
        {children}
        {refused && rest && (rest.length > 0 || refused.errors.length === 0) && (
          <Problem error={new Refused(refused.status, refused.code, refused.message, rest, refused.requestId, refused.body)} />
        )}
        <div className={`flex flex-wrap items-center gap-2 ${plain ? '' : 'justify-end'}`}>
          {!plain && (
            <div className="grow">
              <ApiCall call={() => call(values)} />
            </div>
          )}
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
          <Button kind="main" type="submit" disabled={pending ?? false} className={plain ? 'w-full' : ''}>
            {action}
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
  /** The API's name of the member; a dot leads into an object: `options.method`. */
  name: string
  label: string
  /** Under the field: what it means, what is taken. */
  hint?: ReactNode
}

interface FrameProps extends FieldProps {
  children(attributes: { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean }): ReactNode
}

/** Label, hint and error around a field of any kind. */
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
        <p id={`${id}-error`} className="mt-1 text-bad">
          {error}
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

export const inputLook =
  'w-full min-w-0 rounded-md border border-strong-line bg-surface px-2.5 placeholder:text-muted disabled:opacity-60 aria-invalid:border-bad'

interface TextProps extends FieldProps {
  type?: 'text' | 'email' | 'url' | 'search' | 'datetime-local'
  placeholder?: string
  autoComplete?: string
  autoFocus?: boolean
  mono?: boolean
  disabled?: boolean
}

/** A line of text. */
export function TextField({ name, label, hint, type = 'text', mono, ...rest }: TextProps) {
  const { values, set } = useForm()
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <input
          {...attributes}
          {...rest}
          type={type}
          spellCheck={mono ? false : undefined}
          value={String(values[name] ?? '')}
          onChange={event => set({ [name]: event.target.value })}
          className={`h-9 ${inputLook} ${mono ? 'font-mono text-[13px]' : ''}`}
        />
      )}
    </FieldFrame>
  )
}

/** A password, or another secret that is typed: hidden until one looks at it. */
export function SecretField({ name, label, hint, ...rest }: Omit<TextProps, 'type' | 'mono'>) {
  const { values, set } = useForm()
  const [isShown, setShown] = useState(false)
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <div className="relative">
          <input
            {...attributes}
            {...rest}
            type={isShown ? 'text' : 'password'}
            spellCheck={false}
            value={String(values[name] ?? '')}
            onChange={event => set({ [name]: event.target.value })}
            className={`h-9 pr-9 ${inputLook}`}
          />
          <button
            type="button"
            aria-label={isShown ? 'Hide' : 'Show'}
            onClick={() => setShown(!isShown)}
            className="absolute top-1 right-1 rounded p-1.5 text-muted hover:bg-hover"
          >
            {isShown ? <EyeOff className="size-4" aria-hidden /> : <Eye className="size-4" aria-hidden />}
          </button>
        </div>
      )}
    </FieldFrame>
  )
}

/** Several lines of text. */
export function AreaField({
  name,
  label,
  hint,
  rows = 4,
  mono,
  placeholder,
}: FieldProps & { rows?: number; mono?: boolean; placeholder?: string }) {
  const { values, set } = useForm()
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <textarea
          {...attributes}
          rows={rows}
          placeholder={placeholder}
          spellCheck={mono ? false : undefined}
          value={String(values[name] ?? '')}
          onChange={event => set({ [name]: event.target.value })}
          className={`py-1.5 ${inputLook} ${mono ? 'font-mono text-[13px]' : ''}`}
        />
      )}
    </FieldFrame>
  )
}

/** A whole number or a decimal one; empty is null. */
export function NumberField({
  name,
  label,
  hint,
  unit,
  min,
  max,
  placeholder,
}: FieldProps & { unit?: string; min?: number; max?: number; placeholder?: string }) {
  const { values, set } = useForm()
  const value = values[name]
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <div className="flex items-center gap-2">
          <input
            {...attributes}
            type="number"
            min={min}
            max={max}
            placeholder={placeholder}
            value={value === null || value === undefined ? '' : String(value)}
            onChange={event => set({ [name]: event.target.value === '' ? null : Number(event.target.value) })}
            className={`h-9 max-w-32 ${inputLook}`}
          />
          {unit && <span className="text-muted">{unit}</span>}
        </div>
      )}
    </FieldFrame>
  )
}

/** One of a few. */
export function SelectField({
  name,
  label,
  hint,
  choices,
}: FieldProps & { choices: readonly (readonly [value: string, label: string])[] }) {
  const { values, set } = useForm()
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <select
          {...attributes}
          value={String(values[name] ?? '')}
          onChange={event => set({ [name]: event.target.value })}
          className={`h-9 ${inputLook}`}
        >
          {choices.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </FieldFrame>
  )
}

/** Yes or no. */
export function CheckField({ name, label, hint }: FieldProps) {
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
      {error && <p className="mt-1 pl-5 text-bad">{error}</p>}
      {hint && (
        <p id={`${id}-hint`} className="pl-5 text-[13px] text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

/** A list of short words, typed with commas or spaces between: tags, addresses. */
export function WordsField({ name, label, hint, placeholder }: FieldProps & { placeholder?: string }) {
  const { values, set } = useForm()
  const words = (values[name] ?? []) as string[]
  const [text, setText] = useState(words.join(', '))
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <input
          {...attributes}
          placeholder={placeholder}
          spellCheck={false}
          value={text}
          onChange={event => {
            setText(event.target.value)
            set({ [name]: event.target.value.split(/[\s,]+/).filter(word => word !== '') })
          }}
          className={`h-9 ${inputLook}`}
        />
      )}
    </FieldFrame>
  )
}

/** Fields side by side where there is room. */
export const Columns = ({ children }: { children: ReactNode }) => <div className="grid gap-4 sm:grid-cols-2">{children}</div>

/** Fields that few people need, behind a line that opens. It opens by itself when one of them is wrong. */
export function More({ label, names, children }: { label: string; names?: readonly string[]; children: ReactNode }) {
  const { errorOf } = useForm()
  const isWrong = names?.some(name => errorOf(name) !== null) ?? false
  return (
    <details className="rounded-md border border-line" open={isWrong || undefined}>
      <summary className="px-3 py-2 font-medium">{label}</summary>
      <div className="flex flex-col gap-4 border-t border-line p-3">{children}</div>
    </details>
  )
}
