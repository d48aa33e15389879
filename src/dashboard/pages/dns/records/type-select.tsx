import type { DnsRecordTypeView } from '../../../../features/dns/records/shapes'
import { Select } from '../../../parts/input'
import type { InputAttributes } from '../../../parts/form'

interface TypeSelectProps {
  attributes: InputAttributes
  types: readonly DnsRecordTypeView[]
  value: string
  disabled: boolean
  onChange(type: string): void
}

const commonTypes = ['A', 'AAAA', 'CNAME', 'ALIAS', 'MX', 'TXT', 'NS', 'SRV', 'CAA']

/** Record type select, common types first. */
export function TypeSelect({ attributes, types, value, disabled, onChange }: TypeSelectProps) {
  const names = [...new Set([...types.map(one => one.type), value])]
  const first = commonTypes.filter(one => names.includes(one))
  const option = (one: string) => (
    <option key={one} value={one}>
      {one}
    </option>
  )
  return (
    <Select {...attributes} value={value} disabled={disabled} onText={onChange}>
      {first.map(option)}
      <hr />
      {names
        .filter(one => !first.includes(one))
        .sort()
        .map(option)}
    </Select>
  )
}
