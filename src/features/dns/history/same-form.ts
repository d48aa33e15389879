import { isDeepStrictEqual } from 'node:util'
import type { KeptRrset } from './tables'

/** Whether two forms of an rrset say the same, whatever the ids of their records are. */
export const sameForm = (one: KeptRrset | null, other: KeptRrset | null): boolean =>
  one === null || other === null ? one === other : isDeepStrictEqual(said(one), said(other))

const said = ({ records, ...terms }: KeptRrset) => ({ ...terms, source: null, values: records.map(([, rdata]) => rdata).sort() })
