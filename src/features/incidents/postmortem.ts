import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { lockRow } from '../../core/rows'
import { actorOf } from './actor'
import { incidentRows, incidentTarget } from './incidents'
import { updateIncidentRow } from './rows'
import type { IncidentView } from './shapes'
import { addUpdate } from './timeline'
import { incidentViewOf } from './view'

/**
 * Creates, replaces or deletes the postmortem of an incident.
 * @param body Markdown; null deletes it
 * @throws Problem 404, 412
 */
export async function setPostmortem(ctx: Ctx, id: string, body: string | null): Promise<IncidentView> {
  return await change(ctx, body === null ? 'incident.postmortem.delete' : 'incident.postmortem.update', async tx => {
    const row = await lockRow(tx, ctx, incidentRows, id)
    const now = ctx.hub.clock.now()
    const auditTarget = incidentTarget(row)
    if (row.postmortem === body) return { result: await incidentViewOf(tx, row, now), target: auditTarget, unchanged: true }
    const after = await updateIncidentRow(tx, ctx.hub, row, { postmortem: body, postmortemAt: body === null ? null : now })
    const text = body === null ? 'Postmortem deleted.' : `Postmortem ${row.postmortem === null ? 'added' : 'updated'}.`
    await addUpdate(tx, after, { kind: 'postmortem', at: now, actor: actorOf(ctx), text })
    return {
      result: await incidentViewOf(tx, after, now),
      target: auditTarget,
      before: { postmortem: postmortemView(row.postmortem, row.postmortemAt) },
      after: { postmortem: postmortemView(after.postmortem, after.postmortemAt) },
    }
  })
}

const postmortemView = (body: string | null, at: number | null) =>
  body === null || at === null ? null : { body, updated_at: instant(at) }
