import type { Query } from '../../../client'

/** What of the records is asked for, as the address has it. */
export const emptyAsked = { sort: 'name', q: '', type: '', state: '', synced: '', tag: '', locked: '' }
export type Asked = typeof emptyAsked

/** The same as the API words it. */
export function queryOf({ sort, q, ...filters }: Asked): Query {
  // What is at a provider alone is listed in its own order, and not searched.
  if (filters.state === 'unmanaged') return { state: filters.state, type: filters.type }
  const text = q.trim()
  const search = text.startsWith('*.') ? { name: text } : text === '' ? {} : { q: text.endsWith('*') ? text : `${text}*` }
  return { sort, ...search, ...filters }
}
