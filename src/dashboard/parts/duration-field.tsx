import { useState } from 'react'
import { FieldFrame, inputLook, useForm } from './form'

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

/** The largest unit in which so many seconds are a whole number. */
const unitFor = (seconds: number | null): number =>
  units.findLast(([, size]) => seconds !== null && seconds > 0 && seconds % size === 0)?.[1] ?? 60

/** A length of time, typed in the unit that fits. The value is seconds; empty is null. */
export function DurationField({ name, label, hint }: DurationFieldProps) {
  const { values, set } = useForm()
  const seconds = (values[name] ?? null) as number | null
  const [size, setSize] = useState(() => unitFor(seconds))
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <div className="flex gap-2">
          <input
            {...attributes}
            type="number"
            min={0}
            step="any"
            value={seconds === null ? '' : String(seconds / size)}
            onChange={event => set({ [name]: event.target.value === '' ? null : Math.round(Number(event.target.value) * size) })}
            className={`h-9 max-w-28 ${inputLook}`}
          />
          <select
            aria-label={`Unit of ${label.toLowerCase()}`}
            value={size}
            onChange={event => {
              const next = Number(event.target.value)
              // The figure stays, and means another length: 5 minutes become 5 hours.
              if (seconds !== null) set({ [name]: Math.round((seconds / size) * next) })
              setSize(next)
            }}
            className="h-9 rounded-md border border-strong-line bg-surface px-2"
          >
            {units.map(([word, one]) => (
              <option key={word} value={one}>
                {word}
              </option>
            ))}
          </select>
        </div>
      )}
    </FieldFrame>
  )
}
