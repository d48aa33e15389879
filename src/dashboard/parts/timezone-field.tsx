import { useId } from 'react'
import { FieldFrame, inputLook, useForm } from './form'

// UTC is no canonical zone to browsers, and the one that machines are most often set to.
const known = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')]

/** A time zone, typed or chosen. */
export function TimezoneField({
  name = 'timezone',
  label = 'Time zone',
  hint,
  placeholder,
}: {
  name?: string
  label?: string
  hint?: string
  placeholder?: string
}) {
  const { values, set } = useForm()
  const list = useId()
  return (
    <FieldFrame name={name} label={label} hint={hint}>
      {attributes => (
        <>
          <input
            {...attributes}
            list={list}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            value={String(values[name] ?? '')}
            onChange={event => set({ [name]: event.target.value })}
            className={`h-9 ${inputLook}`}
          />
          <datalist id={list}>
            {known.map(zone => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </FieldFrame>
  )
}
