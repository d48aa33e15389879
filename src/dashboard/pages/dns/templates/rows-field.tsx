import { Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../../parts/button'
import { inputLook, useForm } from '../../../parts/form'

/** A member of the rows, and how it is edited. */
export interface RowMember<Row> {
  name: keyof Row & string
  label: string
  /** CSS width of its column. */
  width?: string
  /** Words to choose from; text when absent. */
  choices?: readonly (readonly [value: string, label: string])[]
  /** The value as text, and back. */
  read?(row: Row): string
  write?(text: string): unknown
}

interface RowsFieldProps<Row> {
  /** The API's name of the list. */
  name: string
  label: string
  members: readonly RowMember<Row>[]
  /** A row as it begins. */
  fresh: Row
  /** The words on the button that adds one. */
  add: string
  hint?: ReactNode
}

/** A list of things in a form, a line each: the API’s errors are told below the line that they are about. */
export function RowsField<Row extends object>({ name, label, members, fresh, add, hint }: RowsFieldProps<Row>) {
  const { values, set, errorOf } = useForm()
  const rows = values[name] as Row[]
  const write = (at: number, changed: Partial<Row>) =>
    set({ [name]: rows.map((row, other) => (other === at ? { ...row, ...changed } : row)) })
  return (
    <fieldset className="min-w-0" data-field={name}>
      <legend className="mb-1 font-medium">{label}</legend>
      {hint && <p className="mb-2 text-[13px] text-muted">{hint}</p>}
      <div className="relative -mx-0.5 overflow-x-auto p-0.5">
        <div className="flex min-w-2xl flex-col gap-1.5">
          {rows.map((row, at) => {
            const error = errorOf(`${name}.${at}`)
            return (
              <div key={at}>
                <div className="flex items-end gap-1.5">
                  {members.map(member => (
                    <label key={member.name} className="min-w-0 grow basis-24" style={{ maxWidth: member.width }}>
                      <span className={at === 0 ? 'text-[13px] text-muted' : 'sr-only'}>
                        {member.label}
                        <span className="sr-only"> {at + 1}</span>
                      </span>
                      <Cell
                        member={member}
                        row={row}
                        isWrong={errorOf(`${name}.${at}.${member.name}`) !== null}
                        onChange={value => write(at, { [member.name]: value } as Partial<Row>)}
                      />
                    </label>
                  ))}
                  <Button
                    kind="quiet"
                    aria-label={`Remove line ${at + 1} of ${label.toLowerCase()}`}
                    icon={<X className="size-4" aria-hidden />}
                    onClick={() => set({ [name]: rows.filter((_, other) => other !== at) })}
                  />
                </div>
                {error && <p className="mt-0.5 mb-1 text-bad">{error}</p>}
              </div>
            )
          })}
        </div>
      </div>
      <Button
        small
        className="mt-2"
        icon={<Plus className="size-4" aria-hidden />}
        onClick={() => set({ [name]: [...rows, fresh] })}
      >
        {add}
      </Button>
    </fieldset>
  )
}

interface CellProps<Row> {
  member: RowMember<Row>
  row: Row
  isWrong: boolean
  onChange(value: unknown): void
}

function Cell<Row>({ member: { name, choices, read, write }, row, isWrong, onChange }: CellProps<Row>) {
  const value = read ? read(row) : String(row[name] ?? '')
  const given = {
    value,
    'aria-invalid': isWrong,
    onChange: (event: { target: { value: string } }) => onChange(write ? write(event.target.value) : event.target.value),
    className: `h-9 ${inputLook} font-mono text-[13px]`,
  }
  if (!choices) return <input {...given} spellCheck={false} />
  return (
    <select {...given}>
      {choices.map(([word, label]) => (
        <option key={word} value={word}>
          {label}
        </option>
      ))}
    </select>
  )
}
