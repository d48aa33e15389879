import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { onePage, type Page } from '../../core/shapes'
import { latestActionsOf } from '../actions/open-actions'
import { findGap } from './certificate-gaps'
import type { CertificateGapEntryView } from './shapes'
import type { GapRow } from './tables'

const maxActions = 50

const isOpeningKnown = ({ timeline }: GapRow): boolean => timeline.some(one => one.kind === 'opened')
const opening = ({ openedAt, detail }: GapRow) => ({ at: openedAt, kind: 'opened' as const, text: detail, actor: null })

/** What happened to a gap, oldest first. @throws Problem 404 */
export async function timelineOfGap(ctx: Ctx, id: string): Promise<Page<CertificateGapEntryView>> {
  const gap = await findGap(ctx, id)
  const actions = await latestActionsOf(ctx.hub.read, ctx.workspaceId, id, maxActions)
  const entries: (Omit<CertificateGapEntryView, 'at'> & { at: number })[] = [
    ...(isOpeningKnown(gap) ? [] : [{ ...opening(gap), action_id: null }]),
    ...gap.timeline.map(entry => ({ ...entry, action_id: null })),
    ...actions.flatMap(({ id: action_id, actor: { type, id: actorId, name }, createdAt, finishedAt, status, result, error }) => [
      { at: createdAt, kind: 'issue_started' as const, text: '', actor: { type, id: actorId, name }, action_id },
      ...(finishedAt === null
        ? []
        : [
            {
              ...{ at: finishedAt, actor: null, action_id },
              ...(status === 'success'
                ? { kind: 'issued' as const, text: `The certificate is valid until ${String(result?.not_after).slice(0, 10)}.` }
                : { kind: 'issue_failed' as const, text: error?.detail ?? '' }),
            },
          ]),
    ]),
  ]
  // Stable: what happened at the same time stays in this order.
  return onePage(entries.toSorted((a, b) => a.at - b.at).map(({ at, ...entry }) => ({ at: instant(at), ...entry })))
}
