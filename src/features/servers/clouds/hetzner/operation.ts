import { hetznerAction, type HetznerAction } from '../../../../vendors/hetzner'
import { CloudError, type Operation } from '../cloud'

/** What is done when the actions are finished. */
export type NextStep =
  | { step: 'enable_backups' }
  /** Waits until it is off. `until`: ms UTC. */
  | { step: 'off'; until: number; thenForce: boolean }
  /** Reports why a server could not be created, after its remainder is deleted. */
  | { step: 'fail'; error: NonNullable<HetznerAction['error']> }

/** Actions of a resource, as stored between two polls. */
export interface HetznerOperation {
  ref: string
  actions: number[]
  next: NextStep | null
}

export const stored = (operation: HetznerOperation): Operation => ({ ...operation })

/** Ids of the actions that a response reports, including those that follow. */
export const startedBy = ({ action, next_actions }: Record<string, unknown>): number[] =>
  [hetznerAction(action), ...actionsOf(next_actions ?? [])].map(one => one.id)

/** Parses a list of actions. @throws CloudError `invalid_response` */
export function actionsOf(list: unknown): HetznerAction[] {
  if (!Array.isArray(list))
    throw new CloudError('invalid_response', 'The response of Hetzner has no list of actions.', null, true)
  return list.map(hetznerAction)
}
