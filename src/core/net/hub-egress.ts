import type { Hub } from '../hub'
import { createEgress, type Egress } from './egress'

const guards = new WeakMap<Hub, Egress>()

/** The guard in front of every connection that this process makes on a workspace's behalf. */
export function egressOf(hub: Hub): Egress {
  let egress = guards.get(hub)
  if (!egress) guards.set(hub, (egress = createEgress({ ownListeners: () => hub.listeners, resolve: name => hub.resolve(name) })))
  return egress
}
