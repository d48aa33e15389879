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

/** The names of record types in the order of selects: common ones, and the others. */
function typeGroups(names: readonly string[]): [common: string[], others: string[]] {
  const first = commonTypes.filter(one => names.includes(one))
  return [first, names.filter(one => !first.includes(one)).sort()]
}

/** The choices of a filter by record type. */
export const typeChoices = (types: readonly DnsRecordTypeView[]): string[] => typeGroups(types.map(one => one.type)).flat()

/** Record type select, common types first. */
export function TypeSelect({ attributes, types, value, disabled, onChange }: TypeSelectProps) {
  const [first, others] = typeGroups([...new Set([...types.map(one => one.type), value])])
  const option = (one: string) => (
    <option key={one} value={one}>
      {one}
    </option>
  )
  return (
    <Select {...attributes} value={value} disabled={disabled} onText={onChange}>
      {first.map(option)}
      <hr />
      {others.map(option)}
    </Select>
  )
}
