import { cloudKindOf } from './clouds'
import { internalVerbs, serverVerbs, type CloudStatus, type ServerVerb } from './clouds/cloud'
import { controllerKinds } from './controllers'
import type { ServerStatus, ServerView } from './shapes'
import { verbRules } from './actions/verbs'
import type { AgentRow } from './agents/rows'
import type { AccountState } from './accounts/view'

/** A controller of a server, as far as its actions depend on it. */
interface Controlled {
  kind: string
}

/** The agent of a server, as far as its actions depend on it. */
type AgentAbility = Pick<AgentRow, 'state' | 'allow'>

/** What the owner of a server must have allowed for an action by its agent. Data can always be collected. */
const needs: Partial<Record<ServerVerb, (allow: AgentRow['allow']) => boolean>> = {
  shutdown: allow => allow.includes('reboot'),
  reboot: allow => allow.includes('reboot'),
  restart_unit: allow => allow.some(one => one.startsWith('restart:')),
  collect: () => true,
}

/** The actions that are possible for a server now, and the ways to perform each. */
export function availableActions(
  row: { status: ServerStatus; actionId: string | null },
  account: AccountState | null,
  controllers: readonly Controlled[],
  agent: AgentAbility | undefined,
): ServerView['actions'] {
  if (row.actionId !== null) return []
  return serverVerbs.flatMap(action => {
    const via = waysOf(action, account, controllers, agent)
    return via.length > 0 && isPossibleIn(action, row.status, account) ? [{ action, via }] : []
  })
}

/** The ways to perform an action, the preferred one first. */
export function waysOf(
  verb: ServerVerb,
  account: AccountState | null,
  controllers: readonly Controlled[],
  agent: AgentAbility | undefined,
): string[] {
  if (internalVerbs.includes(verb)) return []
  const isByAgent = agent?.state === 'reporting' && (needs[verb]?.(agent.allow) ?? false)
  const kind = account && cloudKindOf(account.kind)
  const atCloud = kind?.capabilities.verbs.includes(verb) && !account!.lacks.includes(verb)
  const able = controllerKinds.filter(
    one => controllers.some(({ kind: has }) => has === one.kind) && one.verbs.some(it => it === verb),
  )
  return [...(atCloud ? ['cloud'] : []), ...(isByAgent ? ['agent'] : []), ...able.map(one => one.kind)]
}

/** Whether an action is possible in a status. */
export function isPossibleIn(verb: ServerVerb, status: ServerStatus, account: AccountState | null): boolean {
  const capabilities = account && cloudKindOf(account.kind)?.capabilities
  if (verb === 'resize') return capabilities?.resizableIn.includes(status as CloudStatus) ?? false
  if (verb === 'rebuild') return capabilities?.rebuildableIn.includes(status as CloudStatus) ?? false
  return verbRules[verb].possibleIn.includes(status)
}

/** Whether agents can perform an action. */
export const isByAgents = (verb: ServerVerb): boolean => needs[verb] !== undefined

/** Why an agent can’t perform an action that agents can perform. */
export function whyNotByAgent({ state }: AgentAbility, verb: ServerVerb): string {
  if (state !== 'reporting') return `The agent of the server is ${state}, so it can’t perform the action ${verb}.`
  return notAllowed(verb === 'restart_unit' ? 'restart:UNIT' : 'reboot')
}

/** Why an agent can’t do what needs a permission. */
export const notAllowed = (permission: string): string =>
  `The owner of the server doesn’t allow it: the line \`allow\` in /etc/bailiwick-agent/agent.conf must contain \`${permission}\`.`
