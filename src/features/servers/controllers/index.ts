import type { ControllerKind } from './controller'
import { ipmi } from './ipmi'
import { redfish } from './redfish'
import { ssh } from './ssh'
import { wakeOnLan } from './wake-on-lan'

/** All kinds of controllers, in the order of preference. */
export const controllerKinds: readonly ControllerKind[] = [redfish, ipmi, ssh, wakeOnLan]

export const controllerKindOf = (kind: string): ControllerKind | undefined => controllerKinds.find(one => one.kind === kind)
