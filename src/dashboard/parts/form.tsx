import { Eye, EyeOff } from 'lucide-react'
import {
  createContext,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
  type FormEvent,
  type ReactNode,
} from 'react'
import { ApiError, type Call } from '../client'
import { useSend, type SendOptions } from '../queries'
import { ApiCall } from './api-call'
import { Button } from './button'
import { pairsOf, toggled, type Choices } from './choices'
import { errorText, fieldAt, isWithin, pointerOf, remainingErrors, type FormField } from './field-errors'
import { Checkbox, Input, Select, Textarea } from './input'
import { Problem } from './problem'
import { TextWithCode } from './text-with-code'
import { isSame, type Values } from './values'

export type { Values } from './values'

interface FormContext {
  values: Values
  /** Changes values. Errors of fields whose values change disappear. */
  set(changed: Values): void
  /** The errors at or below a name in the request body, for people. Null if there are none. */
  errorOf(name: string): string | null
  /** Shows errors at their fields, such as those of a test of the values. */
  showError(error: ApiError): void
  /** Shows what a dry run of the current values found at the fields, without moving the focus. */
  showFound(errors: ApiError['errors']): void
  /** Disables the submit button. @returns a function that enables it again */
  block(): () => void
}

interface Registry {
  /** The fields on the page. */
  fields: readonly FormField[]
  /** @returns a function that removes the field */
  register(field: FormField): () => void
  /** The errors that a field shows. */
  errorsAt(name: string): string | null
  isChanged(field: FormField): boolean
}
const Context = createContext<(FormContext & Registry) | null>(null)
/** The group of advanced settings around a field. */
export const GroupContext = createContext<string | null>(null)

/** Values of the surrounding form, and a setter. For custom fields. */
export const useForm = (): FormContext => useRegistry()

/** Disables the submit button of the surrounding form while what its user has to see first is loading, such as a price. */
export function useBlocked(isBlocked: boolean): void {
  const { block } = useForm()
  useLayoutEffect(() => (isBlocked ? block() : undefined), [isBlocked])
}

/** The surrounding form with its fields. */
export function useRegistry(): FormContext & Registry {
  const form = useContext(Context)
  if (!form) throw new Error('useForm must be used inside a Form')
  return form
}

export interface FormProps<Result> {
  initial: Values
  /** Values of a new resource, if the form edits an existing one. Advanced settings that differ from them are shown. */
  defaults?: Values
  /** Returns the API call for the values, which is sent and shown by “View as API call”. */
  call(values: Values): Call
  /** Loads what the call depends on before it is sent. */
  prepare?(values: Values): Promise<void>
  /** What happens after the call. Or a function that sends it, if that takes more than one request. */
  send?: SendOptions<Result> | ((call: Call) => Promise<unknown>)
  /** Label of the submit button. */
  submitLabel: string
  /** Whether what it sends is destructive. */
  danger?: boolean
  /** Text the user has to type first, for irreversible actions. */
  typeToConfirm?: string | undefined
  onCancel?: () => void
  /** A full-width button and no “View as API call”, for the sign-in pages. */
  plain?: boolean
  /** Whether the form is empty again after it was sent. */
  resets?: boolean
  children: ReactNode
}

/**
 * A form for an API call. Fields are named after the fields of the request body. An error is shown at its field until the field is
 * edited. Errors without a field are shown above the button.
 */
export function Form<Result>({
  initial,
  defaults,
  call,
  prepare,
  send,
  submitLabel,
  danger,
  typeToConfirm,
  onCancel,
  plain,
  resets,
  children,
}: FormProps<Result>) {
  const own = useSend<Result>({ quiet: true, ...(typeof send === 'object' && send) })
  const [values, setValues] = useState(initial)
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  const [found, setFound] = useState<ApiError['errors']>([])
  const [typed, setTyped] = useState('')
  const [blocks, setBlocks] = useState(0)
  const [registered, setRegistered] = useState<ReadonlyMap<symbol, FormField>>(new Map())
  const fields = [...registered.values()]
  const form = useRef<HTMLFormElement>(null)
  // Focus the first field with an error, when its group is open.
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>(invalidInput)?.focus()
  }, [error?.requestId])
  const textOf = (which: (pointer: string) => boolean): string | null => {
    const texts = [...(error?.errors ?? []), ...found]
      .filter(one => which(one.pointer))
      .map(one => errorText(one, fields, values))
    return texts.length > 0 ? [...new Set(texts)].join(' ') : null
  }
  const set = (changed: Values) => {
    setValues(before => ({ ...before, ...changed }))
    setError(error => {
      if (!error) return null
      const after = { ...values, ...changed }
      const errors = remainingErrors(error.errors, fields, values, after)
      if (errors.length === error.errors.length && errors.length > 0) return error
      return errors.length > 0 || isSame(values, after) ? withErrors(error, errors) : null
    })
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setError(null)
    setSending(true)
    try {
      await prepare?.(values)
      await (typeof send === 'function' ? send : own.mutateAsync)(call(values))
      if (resets) setValues(initial)
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      setError(failure)
    } finally {
      setSending(false)
    }
  }
  const rest = error?.errors.filter(one => !fieldAt(one.pointer, fields)) ?? []
  return (
    <Context.Provider
      value={{
        values,
        set,
        errorOf: name => {
          const pointer = pointerOf(name)
          return textOf(one => isWithin(one, pointer))
        },
        showError: setError,
        showFound: setFound,
        block() {
          setBlocks(count => count + 1)
          return () => setBlocks(count => count - 1)
        },
        fields,
        register(field) {
          const key = Symbol()
          setRegistered(before => new Map(before).set(key, field))
          return () => setRegistered(before => new Map([...before].filter(([one]) => one !== key)))
        },
        errorsAt: name => textOf(pointer => fieldAt(pointer, fields)?.name === name),
        isChanged: ({ isStored, reads, unset }) =>
          isStored ||
          reads.some(name => {
            const isInitial = isSame(values[name], initial[name])
            const isDefault = unset === undefined ? defaults && isSame(values[name], defaults[name]) : isSame(values[name], unset)
            // What the form of a new resource fills in itself isn’t set.
            return !isDefault && (defaults !== undefined || !isInitial)
          }),
      }}
    >
      <form ref={form} onSubmit={event => void submit(event)} noValidate className="flex flex-col gap-4">
        {children}
        {typeToConfirm !== undefined && <TypeToConfirm text={typeToConfirm} typed={typed} onType={setTyped} />}
        {error && (rest.length > 0 || error.errors.length === 0) && <Problem error={withErrors(error, rest)} />}
        <div className={`flex flex-wrap items-center gap-2 ${plain ? '' : 'justify-end'}`}>
          {!plain && (
            <div className="grow max-sm:basis-full">
              <ApiCall call={() => call(values)} />
            </div>
          )}
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
          <Button
            kind={danger ? 'danger' : 'primary'}
            type="submit"
            disabled={isSending || blocks > 0 || (typeToConfirm !== undefined && typed !== typeToConfirm)}
            className={plain ? 'w-full' : ''}
          >
            {submitLabel}
          </Button>
        </div>
      </form>
    </Context.Provider>
  )
}

const invalidInput = ['[aria-invalid=true]', '[aria-invalid=true] *'].map(one => `:is(input, select, textarea):is(${one})`).join()

const withErrors = ({ status, code, message, requestId, body }: ApiError, errors: ApiError['errors']): ApiError =>
  new ApiError(status, code, message, errors, requestId, body)

interface TypeToConfirmProps {
  text: string
  typed: string
  onType(typed: string): void
}

/** The field where the user types a text, such as the name of a resource, to confirm an irreversible action. */
export const TypeToConfirm = ({ text, typed, onType }: TypeToConfirmProps) => (
  <label className="block">
    <span className="mb-1 block">
      Type <strong className="font-mono">{text}</strong> to confirm
    </span>
    <Input mono value={typed} onText={onType} autoComplete="off" />
  </label>
)

interface FieldProps {
  /** Name of the field in the request body. Dots address nested fields: `options.method`. */
  name: string
  label: string
  /** Help text below the field. */
  hint?: ReactNode
}

/** How a field takes part in its form, if its name and value aren’t enough. */
interface FieldOptions {
  /** Names of the form values it shows and changes, if it isn’t only the one of the field. */
  reads?: readonly string[] | undefined
  /** Other names in the request body whose errors belong to it. */
  also?: readonly string[]
  /** Whether the user picks a value instead of typing it. */
  isPicked?: boolean
}

/** What is known of a field from elsewhere, such as a schema. */
interface Known {
  /** Whether a value is stored that the form doesn’t show, such as a password. */
  isStored: boolean
  /** Its value if it isn’t set. Undefined if the form’s defaults contain it. */
  unset: unknown
}
/** What is known of the field in it. */
export const KnownField = createContext<Known>({ isStored: false, unset: undefined })

/**
 * Adds a field to the form, which then leaves its errors to the field.
 * @returns its error
 */
export function useField({ name, label, reads = [name], also = [], isPicked = false }: FieldProps & FieldOptions) {
  const { register, errorsAt } = useRegistry()
  const group = useContext(GroupContext)
  const field: FormField = { name, label, reads, also, isPicked, group, ...useContext(KnownField) }
  useLayoutEffect(() => register(field), [JSON.stringify(field)])
  return errorsAt(name)
}

/** Attributes that connect an input to its label, hint, and error. */
export interface InputAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface FrameProps extends FieldProps, FieldOptions {
  children(attributes: InputAttributes): ReactNode
}

/** Label, hint, and error around an input of any kind. An error replaces the hint. */
export function FieldFrame({ children, ...field }: FrameProps) {
  const { label, hint } = field
  const id = useId()
  const error = useField(field)
  const described = error ? `${id}-error` : hint ? `${id}-hint` : undefined
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': error !== null })}
      <FieldError id={`${id}-error`} error={error} />
      {hint && !error && (
        <p id={`${id}-hint`} className="mt-1 text-[13px] text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

/** The error of a field, below its input. */
export const FieldError = ({ id, error, className = '' }: { id?: string; error: string | null; className?: string }) =>
  error && (
    <p id={id} className={`mt-1 text-bad ${className}`}>
      <TextWithCode text={error} />
    </p>
  )

interface ControlProps extends FieldProps, FieldOptions {
  children(attributes: InputAttributes, value: unknown, change: (value: unknown) => void): ReactNode
}

/** A field with the value of its name. */
function Control({ children, ...field }: ControlProps) {
  const { values, set } = useForm()
  const { name } = field
  return <FieldFrame {...field}>{attributes => children(attributes, values[name], value => set({ [name]: value }))}</FieldFrame>
}

interface TextProps extends FieldProps {
  type?: 'text' | 'email' | 'url' | 'search' | 'datetime-local' | 'date' | 'time'
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
  <Control {...{ name, label, hint }} isPicked>
    {(attributes, value, change) => <Select {...attributes} value={String(value ?? '')} onText={change} choices={choices} />}
  </Control>
)

/** A checkbox. */
export function CheckboxField({ name, label, hint }: FieldProps) {
  const { values, set } = useForm()
  const id = useId()
  const error = useField({ name, label, isPicked: true })
  return (
    <div>
      <div className="flex items-start gap-2">
        <input
          id={id}
          type="checkbox"
          className="mt-1"
          checked={values[name] === true}
          onChange={event => set({ [name]: event.target.checked })}
          aria-invalid={error !== null}
          aria-describedby={error ? `${id}-error` : hint ? `${id}-hint` : undefined}
        />
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
      </div>
      <FieldError id={`${id}-error`} error={error} className="pl-5" />
      {hint && !error && (
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
    <FieldFrame {...field} reads={[value]} isPicked>
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
