import { isDeepStrictEqual } from 'node:util'
import type { StoredRrset } from './tables'

/** Whether two states of an rrset are equal, ignoring the ids of their records. */
export const sameContent = (one: StoredRrset | null, other: StoredRrset | null): boolean =>
  one === null || other === null ? one === other : isDeepStrictEqual(comparable(one), comparable(other))

const comparable = ({ records, ...terms }: StoredRrset) => ({
  ...terms,
  source: null,
  values: records.map(([, rdata]) => rdata).sort(),
})
