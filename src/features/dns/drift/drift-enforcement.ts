import type { ZoneRow } from '../zones/rows'
import type { EvaluationInput } from '../sync/evaluate'
import type { TargetRow } from '../targets/target-rows'

const windowMs = 600_000
const maxRuns = 3

/** Returns whether drift was reverted too often, three times in ten minutes: someone keeps changing it back, so it is left alone. */
export const isEditWar = (target: TargetRow, now: number): boolean =>
  now - target.enforcedSince < windowMs && target.enforcedRuns >= maxRuns

/** Counts one more run that reverts drift. */
export const countEnforcement = (target: TargetRow, now: number): Partial<TargetRow> =>
  now - target.enforcedSince < windowMs ? { enforcedRuns: target.enforcedRuns + 1 } : { enforcedSince: now, enforcedRuns: 1 }

/**
 * Which drift a sync reverts, by the policies of the zone and by explicit request. Rrsets that a dynamic IP source sets are always
 * reverted.
 * @param driven keys of `rrsetKey`
 * @param requested keys of `rrsetKey`, or all
 */
export function enforcementAt(
  zone: ZoneRow,
  target: TargetRow,
  now: number,
  driven: ReadonlySet<string>,
  requested?: ReadonlySet<string> | 'all',
): Pick<EvaluationInput, 'enforces' | 'deletesUnmanaged'> {
  const isLeft = isEditWar(target, now)
  return {
    enforces: (key, state) =>
      requested === 'all' ||
      requested?.has(key) === true ||
      (driven.has(key) && !isLeft) ||
      (state === 'drifted' && zone.driftPolicy === 'enforce' && !isLeft),
    deletesUnmanaged: zone.unmanaged === 'delete' && !isLeft,
  }
}
