import { useState } from 'react'
import { FieldFrame, useForm } from './form'
import { Input, Select } from './input'

const units = [
  ['seconds', 1],
  ['minutes', 60],
  ['hours', 3600],
  ['days', 86_400],
] as const

interface DurationFieldProps {
  name: string
  label: string
  hint?: string
}

/** Returns the largest unit that divides the duration evenly. */
const unitFor = (seconds: number | null): number =>
  units.findLast(([, size]) => seconds !== null && seconds > 0 && seconds % size === 0)?.[1] ?? 60

/** A duration with a selectable unit. The value is in seconds. Empty is null. */
export function DurationField({ name, label, hint }: DurationFieldProps) {
  const { values, set } = useForm()
  const seconds = (values[name] ?? null) as number | null
  const [size, setSize] = useState(() => unitFor(seconds))
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <div className="flex gap-2">
          <Input
            {...attributes}
            type="number"
            min={0}
            step="any"
            value={seconds === null ? '' : String(seconds / size)}
            onText={text => set({ [name]: text === '' ? null : Math.round(Number(text) * size) })}
            className="h-9 max-w-28"
          />
          <Select
            aria-label={`Unit of ${label.toLowerCase()}`}
            value={String(size)}
            onText={text => {
              const next = Number(text)
              // Changing the unit keeps the number: 5 minutes become 5 hours.
              if (seconds !== null) set({ [name]: Math.round((seconds / size) * next) })
              setSize(next)
            }}
            choices={units.map(([word, one]) => [String(one), word] as const)}
            className="h-9 max-w-28"
          />
        </div>
      )}
    </FieldFrame>
  )
}
