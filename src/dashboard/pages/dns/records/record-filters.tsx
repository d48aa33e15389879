import { X } from 'lucide-react'
import type { DnsRecordTypeView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Choice, Filters, SearchField } from '../../../parts/filters'
import type { Asked } from './record-query'

interface RecordFiltersProps {
  zone: ZoneView
  types: readonly DnsRecordTypeView[]
  asked: Asked
  set(changed: Partial<Asked>): void
}

/** Search and filters of the records of a zone. */
export function RecordFilters({ zone, types, asked, set }: RecordFiltersProps) {
  const { q, type, state, synced, tag, locked } = asked
  return (
    <Filters>
      <SearchField label="Search names and values" value={q} onChange={text => set({ q: text })} />
      <Choice
        label="Type"
        value={type}
        onChange={value => set({ type: value })}
        choices={[['', 'All types'], ...types.map(one => [one.type, one.type] as const)]}
      />
      {zone.sync.targets.length > 0 && (
        <Choice
          label="State"
          value={synced === 'false' ? 'not' : state}
          onChange={value => set(value === 'not' ? { synced: 'false', state: '' } : { synced: '', state: value })}
          choices={states}
        />
      )}
      <Choice
        label="Lock"
        value={locked}
        onChange={value => set({ locked: value })}
        choices={[
          ['', 'Locked or not'],
          ['true', 'Locked'],
          ['false', 'Not locked'],
        ]}
      />
      {tag !== '' && (
        <button
          type="button"
          onClick={() => set({ tag: '' })}
          className="inline-flex h-9 items-center gap-1 rounded-md border border-accent px-2 text-accent hover:bg-hover"
        >
          {tag}
          <X className="size-4" aria-hidden />
          <span className="sr-only">: no longer only this tag</span>
        </button>
      )}
    </Filters>
  )
}

const states = [
  ['', 'All states'],
  ['not', 'Not as they are to be'],
  ['pending', 'Pending'],
  ['drifted', 'Drifted'],
  ['conflict', 'In conflict'],
  ['error', 'Refused'],
  ['unsupported', 'Not supported there'],
  ['unmanaged', 'At a provider alone'],
  ['synced', 'Synced'],
] as const
