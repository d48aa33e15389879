import type { FoundGap } from './gaps'
import { gapSeverities } from './kinds'

type Located = Pick<FoundGap, 'key' | 'endpointId' | 'certificateId'>

/** What the incident of a gap is about. */
export const subjectIdOf = ({ endpointId, certificateId }: Pick<Located, 'endpointId' | 'certificateId'>): string | null =>
  endpointId ?? certificateId

// Keeps transactions short.
const perChange = 50

/**
 * The keys of gaps by the change that writes them. Those of a subject are written together, because they share an incident. If they are too
 * many for that, the most severe ones are written first and those that no longer exist last: the incident is about the most severe one from
 * the start, and isn’t resolved in between.
 * @param found the gaps that exist now, by key
 */
export function changesOf(gaps: readonly Located[], found: ReadonlyMap<string, Pick<FoundGap, 'severity'>>): string[][] {
  const rank = ({ key }: Located) => gapSeverities.indexOf(found.get(key)?.severity ?? 'info') + (found.has(key) ? 0 : 1)
  const changes: string[][] = []
  const sorted = gaps.toSorted((a, b) => rank(a) - rank(b))
  for (const some of Map.groupBy(sorted, one => subjectIdOf(one) ?? one.key).values()) {
    const keys = some.map(one => one.key)
    const last = changes.at(-1)
    if (last && last.length + keys.length <= perChange) last.push(...keys)
    else for (let at = 0; at < keys.length; at += perChange) changes.push(keys.slice(at, at + perChange))
  }
  return changes
}
