import { Plus, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button'
import { FieldError, useField, useForm } from './form'
import { Input, Select } from './input'

/** A field of a row, and how it is edited. */
export interface RowField<Row> {
  name: keyof Row & string
  label: string
  /** CSS width of the column. */
  width?: string
  /** Options of a select. Default: a text input. */
  choices?: readonly (readonly [value: string, label: string])[]
  /** Other names in the request body whose errors belong to it. */
  also?: readonly string[]
  /** Conversion of the value to text and back. */
  read?(row: Row): string
  write?(text: string): unknown
}

interface RowsFieldProps<Row> {
  /** API field name of the list. */
  name: string
  label: string
  fields: readonly RowField<Row>[]
  /** Initial values of a new row. */
  newRow: Row
  /** Label of the button that adds a row. */
  addLabel: string
  hint?: ReactNode
}

/** A list field with one row per item. API errors are shown below their row. */
export function RowsField<Row extends object>({ name, label, fields, newRow, addLabel, hint }: RowsFieldProps<Row>) {
  const { values, set, errorOf } = useForm()
  const ownError = useField({ name, label })
  const rows = values[name] as Row[]
  const write = (at: number, changed: Partial<Row>) =>
    set({ [name]: rows.map((row, other) => (other === at ? { ...row, ...changed } : row)) })
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">{label}</legend>
      {hint && <p className="mb-2 text-[13px] text-muted">{hint}</p>}
      <div className="relative -mx-0.5 overflow-x-auto p-0.5">
        <div className="flex min-w-2xl flex-col gap-1.5">
          {rows.map((row, at) => {
            const error = errorOf(`${name}.${at}`)
            return (
              <div key={at}>
                <div className="flex items-end gap-1.5">
                  {fields.map(field => (
                    <label key={field.name} className="min-w-0 grow basis-24" style={{ maxWidth: field.width }}>
                      <span className={at === 0 ? 'text-[13px] text-muted' : 'sr-only'}>
                        {field.label}
                        <span className="sr-only"> {at + 1}</span>
                      </span>
                      <Cell
                        field={field}
                        row={row}
                        item={`${name}.${at}`}
                        onChange={value => write(at, { [field.name]: value } as Partial<Row>)}
                      />
                    </label>
                  ))}
                  <Button
                    kind="quiet"
                    aria-label={`Remove row ${at + 1} of ${label.toLowerCase()}`}
                    icon={X}
                    onClick={() => set({ [name]: rows.filter((_, other) => other !== at) })}
                  />
                </div>
                {/* Stays in view while its row is scrolled. */}
                <FieldError error={error} className="sticky left-0 mb-1 w-fit max-w-[calc(100vw-5rem)]" />
              </div>
            )
          })}
        </div>
      </div>
      <FieldError error={ownError} />
      <Button small className="mt-2" icon={Plus} onClick={() => set({ [name]: [...rows, newRow] })}>
        {addLabel}
      </Button>
    </fieldset>
  )
}

interface CellProps<Row> {
  /** Name of the item in the request body. */
  item: string
  field: RowField<Row>
  row: Row
  onChange(value: unknown): void
}

function Cell<Row>({ item, field, row, onChange }: CellProps<Row>) {
  const { name: column, label, choices, also = [], read, write } = field
  const value = read ? read(row) : String(row[column] ?? '')
  const isWrong =
    useField({
      ...{ name: `${item}.${column}`, label, reads: [], isPicked: choices !== undefined },
      also: also.map(one => `${item}.${one}`),
    }) !== null
  const attributes = {
    value,
    'aria-invalid': isWrong,
    onText: (text: string) => onChange(write ? write(text) : text),
    mono: true,
  }
  return choices ? <Select {...attributes} choices={choices} /> : <Input {...attributes} />
}
