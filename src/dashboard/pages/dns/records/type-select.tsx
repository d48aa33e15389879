import type { DnsRecordTypeView } from '../../../../features/dns/record-shapes'
import { inputLook } from '../../../parts/form'
import type { InputAttributes } from './labelled'

interface TypeSelectProps {
  attributes: InputAttributes
  types: readonly DnsRecordTypeView[]
  value: string
  disabled: boolean
  onChange(type: string): void
}

const usual = ['A', 'AAAA', 'CNAME', 'ALIAS', 'MX', 'TXT', 'NS', 'SRV', 'CAA']

/** The type of a record: the usual ones first. */
export function TypeSelect({ attributes, types, value, disabled, onChange }: TypeSelectProps) {
  const names = [...new Set([...types.map(one => one.type), value])]
  const first = usual.filter(one => names.includes(one))
  const option = (one: string) => (
    <option key={one} value={one}>
      {one}
    </option>
  )
  return (
    <select
      {...attributes}
      value={value}
      disabled={disabled}
      onChange={event => onChange(event.target.value)}
      className={`h-9 ${inputLook}`}
    >
      {first.map(option)}
      <hr />
      {names
        .filter(one => !first.includes(one))
        .sort()
        .map(option)}
    </select>
  )
}
