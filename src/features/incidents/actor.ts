import type { Ctx } from '../../core/ctx'
import type { IncidentActor } from './tables'

/** The caller, as timelines and events name them. */
export const actorOf = ({ actor }: Pick<Ctx, 'actor'>): IncidentActor => ({
  type: actor.type === 'anonymous' ? 'system' : actor.type,
  id: actor.id,
  name: actor.name,
})
