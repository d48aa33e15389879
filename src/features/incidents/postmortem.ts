import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { requireMatch } from '../../core/if-match'
import { doerOf } from './doer'
import { incidentOf, incidentTarget } from './incidents'
import { write } from './rows'
import type { IncidentView } from './shapes'
import { addUpdate } from './timeline'
import { viewOf } from './view'

/**
 * Writes down what was learned from an incident, in the place of what was written before.
 * @param body Markdown; null takes it away
 * @throws Problem 404, 412
 */
export async function writePostmortem(ctx: Ctx, id: string, body: string | null): Promise<IncidentView> {
  return await change(ctx, body === null ? 'incident.postmortem.delete' : 'incident.postmortem.update', async tx => {
    const row = await incidentOf(tx, ctx, id)
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    const named = incidentTarget(row)
    if (row.postmortem === body) return { result: await viewOf(tx, row, now), target: named, unchanged: true }
    const after = await write(tx, ctx.hub, row, { postmortem: body, postmortemAt: body === null ? null : now })
    const text =
      body === null ? 'The post-mortem was taken away.' : `The post-mortem was ${row.postmortem === null ? 'written' : 'edited'}.`
    await addUpdate(tx, after, { kind: 'postmortem', at: now, actor: doerOf(ctx), text })
    return {
      result: await viewOf(tx, after, now),
      target: named,
      before: { postmortem: shown(row.postmortem, row.postmortemAt) },
      after: { postmortem: shown(after.postmortem, after.postmortemAt) },
    }
  })
}

const shown = (body: string | null, at: number | null) =>
  body === null || at === null ? null : { body, updated_at: instant(at) }
