import { isObject } from '../../../../dns/octets'
import { CloudError, type ControllerVerb, type Power } from '../controller'
import { messagesOf, type RedfishClient, type Resource } from './client'

/** Values of `ResetType` for each verb, in order of preference. */
export const resetTypes: Record<ControllerVerb, readonly string[]> = {
  power_on: ['On', 'ForceOn'],
  power_off: ['ForceOff'],
  shutdown: ['GracefulShutdown'],
  reboot: ['GracefulRestart'],
  power_cycle: ['PowerCycle', 'ForceRestart'],
  suspend: ['Pause', 'Suspend'],
  resume: ['Resume'],
}

/** Lists of a service have as many members as it has machines. */
const maxMembers = 200

/**
 * Finds the system to control.
 * @param id of the system; optional if the service has only one
 * @throws CloudError; `invalid` if there are several
 */
export async function systemOf(client: RedfishClient, root: Resource, id: string | undefined): Promise<Resource> {
  const paths = membersOf(await client.get(referenceOf(root, 'Systems')))
  const ids = paths.map(path => decoded(path.replace(/\/$/, '').split('/').at(-1)!))
  const shown = `It has: ${ids.slice(0, 20).join(', ')}${ids.length > 20 ? ', …' : ''}.`
  if (paths.length === 0) throw new CloudError('not_found', 'The Redfish service has no systems.')
  if (id === undefined && paths.length > 1)
    throw new CloudError('invalid', `The Redfish service has several systems. Set system_id. ${shown}`, null, false)
  const place = id === undefined ? 0 : ids.indexOf(id)
  if (place < 0) throw new CloudError('not_found', `The Redfish service has no system "${id}". ${shown}`)
  return await client.get(paths[place]!)
}

/** @param system as read */
export function powerOf({ PowerState }: Resource): Power {
  // A state that is being left has not ended yet.
  if (PowerState === 'On' || PowerState === 'PoweringOff' || PowerState === 'Paused') return 'on'
  return PowerState === 'Off' || PowerState === 'PoweringOn' ? 'off' : 'unknown'
}

/** How to carry out a verb. @throws CloudError `refused` with what is possible */
export async function resetOf(
  client: RedfishClient,
  system: Resource,
  verb: ControllerVerb,
): Promise<{ target: string; type: string }> {
  const reset = isObject(system.Actions) ? system.Actions['#ComputerSystem.Reset'] : undefined
  if (!isObject(reset) || typeof reset.target !== 'string')
    throw new CloudError('refused', 'The Redfish service does not allow resets of this system.', null, false)
  const allowed = await allowedTypes(client, reset)
  const type = resetTypes[verb].find(one => allowed === null || allowed.includes(one))
  if (type !== undefined) return { target: reset.target, type }
  const wanted = resetTypes[verb].join(' or ')
  const possible = allowed!.length === 0 ? 'nothing' : allowed!.join(', ')
  throw new CloudError('refused', `The Redfish service does not support ${wanted}. It supports ${possible}.`, null, false)
}

/** The values that the service allows; null if it doesn't list them. Either with the action, or in its ActionInfo. */
export async function allowedTypes(client: RedfishClient, reset: Resource): Promise<string[] | null> {
  const listed = stringsOf(reset['ResetType@Redfish.AllowableValues'])
  if (listed) return listed
  const info = reset['@Redfish.ActionInfo']
  if (typeof info !== 'string') return null
  const { Parameters } = await client.get(info)
  const parameter = (Array.isArray(Parameters) ? Parameters : []).find(one => isObject(one) && one.Name === 'ResetType')
  return stringsOf(parameter?.AllowableValues)
}

/** How far a task is. @param status of the response, @param body a Task, or whatever the action returns at its end */
export function taskState(
  status: number,
  body: Resource,
): { isRunning: boolean; progress: number | null; failure: string | null } {
  const { TaskState, PercentComplete, Messages } = body
  const progress = typeof PercentComplete === 'number' && PercentComplete >= 0 && PercentComplete <= 100 ? PercentComplete : null
  const failed = failedStates.includes(TaskState as string)
  return {
    // The monitor responds with 202 until the task has ended. The task itself always responds with 200.
    isRunning: !failed && (status === 202 || (typeof TaskState === 'string' && TaskState !== 'Completed')),
    progress,
    failure: failed ? `The task ended with the state ${String(TaskState)}. ${messagesOf(Messages)}`.trim() : null,
  }
}

const failedStates = ['Exception', 'Killed', 'Cancelled', 'Interrupted']

/** The path that a resource refers to. @throws CloudError */
function referenceOf(resource: Resource, name: string): string {
  const path = pathOf(resource[name])
  if (path === null) throw new CloudError('invalid_response', `The Redfish service has no ${name}.`)
  return path
}

/** The path of a reference; null if there is none. */
export function pathOf(reference: unknown): string | null {
  const path = isObject(reference) ? reference['@odata.id'] : undefined
  return typeof path === 'string' && path !== '' ? path : null
}

/** Paths of the members of a collection. */
export const membersOf = ({ Members }: Resource): string[] =>
  (Array.isArray(Members) ? Members.slice(0, maxMembers) : []).map(pathOf).filter(path => path !== null)

const stringsOf = (value: unknown): string[] | null =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : null

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
