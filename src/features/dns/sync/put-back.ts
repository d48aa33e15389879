import type { ZoneRow } from '../zone-rows'
import type { Reading } from './evaluate'
import type { TargetRow } from './target-rows'

const windowMs = 600_000
const mostRuns = 3

/** Whether what others did at a target was undone so often that it is left alone for now: three times in ten minutes, since they may do it again. */
export const isEditWar = (target: TargetRow, now: number): boolean =>
  now - target.enforcedSince < windowMs && target.enforcedRuns >= mostRuns

/** One more run that undoes what others did. */
export const countedRun = (target: TargetRow, now: number): Partial<TargetRow> =>
  now - target.enforcedSince < windowMs ? { enforcedRuns: target.enforcedRuns + 1 } : { enforcedSince: now, enforcedRuns: 1 }

/**
 * What of others is undone at a target by the policies of its zone, and by what is asked for.
 * @param asked keys of `rrsetKey`, or all
 */
export function putBackAt(
  zone: ZoneRow,
  target: TargetRow,
  now: number,
  asked?: ReadonlySet<string> | 'all',
): Pick<Reading, 'puts' | 'isExclusive'> {
  const isLeft = isEditWar(target, now)
  return {
    puts: (key, state) =>
      asked === 'all' || asked?.has(key) === true || (state === 'drifted' && zone.driftPolicy === 'enforce' && !isLeft),
    isExclusive: zone.unmanaged === 'delete' && !isLeft,
  }
}
