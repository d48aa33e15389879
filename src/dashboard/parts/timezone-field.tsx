import { useId, type ReactNode } from 'react'
import { TextField } from './form'

// Browsers don't list UTC, which is the most common setting of servers.
const timezones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')]

interface TimezoneFieldProps {
  name?: string
  label?: string
  hint?: ReactNode
  placeholder?: string
}

/** A time zone field with suggestions. */
export function TimezoneField({ name = 'timezone', label = 'Time zone', hint, placeholder }: TimezoneFieldProps) {
  const list = useId()
  return (
    <>
      <TextField name={name} label={label} hint={hint} placeholder={placeholder} autoComplete="off" list={list} />
      <datalist id={list}>
        {timezones.map(zone => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}
