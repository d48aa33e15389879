import type { Hub } from '../hub'
import { createEgress, type Egress } from './egress'

const guards = new WeakMap<Hub, Egress>()

/** Returns the check for all connections that this process makes for workspaces. */
export function egressOf(hub: Hub): Egress {
  let egress = guards.get(hub)
  if (!egress) guards.set(hub, (egress = createEgress({ ownListeners: () => hub.listeners, resolve: name => hub.resolve(name) })))
  return egress
}
