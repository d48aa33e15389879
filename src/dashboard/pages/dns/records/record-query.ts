import type { DnsRecordTypeView } from '../../../../features/dns/records/shapes'
import type { Query } from '../../../client'
import type { ListState } from '../../../parts/list'
import { typeChoices } from './type-select'

/** The search of a list of records. */
export const recordSearch = { name: 'q', label: 'Search names and values' }

/** The filters of every list of records. */
export const recordFilters = (types: readonly DnsRecordTypeView[]) => ({
  type: { name: 'type', label: 'Type', all: 'All types', choices: typeChoices(types) },
  state: { name: 'state', label: 'Sync status', all: 'All sync statuses', choices: syncStates },
  locked: { name: 'locked', label: 'Lock', all: 'All records', choices: { true: 'Locked', false: 'Unlocked' } },
  tag: { name: 'tag', label: 'Tag' },
})

const syncStates = {
  out_of_sync: 'Out of sync',
  pending: 'Pending',
  drifted: 'Drifted',
  conflict: 'Conflict',
  error: 'Error',
  unsupported: 'Unsupported',
  unmanaged: 'Unmanaged',
  synced: 'Synced',
}

/** Converts the filters of a list of records to API query parameters. */
export function queryOf({ q = '', state, ...filters }: ListState): Query {
  // The list of unmanaged records has a fixed order and no search.
  if (state === 'unmanaged') return { state, type: filters.type, zone: filters.zone, limit: 200 }
  const text = q.trim()
  const search = text.startsWith('*.') ? { name: text } : text === '' ? {} : { q: text.endsWith('*') ? text : `${text}*` }
  return { ...search, ...filters, ...(state === 'out_of_sync' ? { synced: 'false' } : { state }), limit: 200 }
}
