import type { Ctx } from '../../core/ctx'
import { actorTypes } from './shapes'
import type { IncidentActor } from './tables'

/** The caller, as timelines and events name them. */
export function actorOf({ actor: { type, id, name } }: Pick<Ctx, 'actor'>): IncidentActor {
  const known = actorTypes.find(one => one === type)
  if (!known) throw new Error(`The actor type ${type} can’t act on incidents.`)
  return { type: known, id, name }
}
