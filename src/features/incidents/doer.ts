import type { Ctx } from '../../core/ctx'
import type { Doer } from './tables'

/** The caller, as timelines and events name them. */
export const doerOf = ({ actor }: Pick<Ctx, 'actor'>): Doer => ({
  type: actor.type === 'anonymous' ? 'system' : actor.type,
  id: actor.id,
  name: actor.name,
})
