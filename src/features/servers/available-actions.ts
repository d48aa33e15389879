import { cloudKindOf } from './clouds'
import { internalVerbs, serverVerbs, type CloudStatus, type ServerVerb } from './clouds/cloud'
import { controllerKinds } from './controllers'
import type { ServerStatus, ServerView } from './shapes'
import { verbRules } from './actions/verbs'
import { version } from '../../core/version'
import { isNewerVersion } from '../../wire/agent-version'
import { takesCommands, type AgentRow } from './agents/rows'
import type { AccountState } from './accounts/view'

/** A server, as far as its actions depend on it. */
interface Possible {
  status: ServerStatus
  providerRef: string | null
  /** Null unless it is or was ordered, and does not exist yet. */
  order: object | null
}

/** A controller of a server, as far as its actions depend on it. */
interface Controlled {
  kind: string
}

/** The agent of a server, as far as its actions depend on it. */
type AgentAbility = Pick<AgentRow, 'state' | 'allow' | 'version' | 'facts'>

/** What is necessary for an action by an agent, such as a permission of the owner of the server. The program can always collect data. */
const needs: Partial<Record<ServerVerb, (agent: AgentAbility) => boolean>> = {
  shutdown: ({ allow }) => allow.includes('reboot'),
  reboot: ({ allow }) => allow.includes('reboot'),
  restart_unit: ({ allow }) => allow.some(one => one.startsWith('restart:')),
  collect: takesCommands,
  update_agent: agent => agent.allow.includes('update') && isNewerVersion(version, agent.version),
}

/** The actions that are possible for a server now, and the ways to perform each. */
export function availableActions(
  row: Possible & { actionId: string | null },
  account: AccountState | null,
  controllers: readonly Controlled[],
  agent: AgentAbility | undefined,
): ServerView['actions'] {
  if (row.actionId !== null) return []
  return serverVerbs.flatMap(action => {
    const via = waysOf(action, account, controllers, agent)
    return via.length > 0 && isPossibleIn(action, row, account) ? [{ action, via }] : []
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
  const isByAgent = agent?.state === 'reporting' && (needs[verb]?.(agent) ?? false)
  const kind = account && cloudKindOf(account.kind)
  const atCloud = kind?.capabilities.verbs.includes(verb) && !account!.lacks.includes(verb)
  const able = controllerKinds.filter(
    one => controllers.some(({ kind: has }) => has === one.kind) && one.verbs.some(it => it === verb),
  )
  return [...(atCloud ? ['cloud'] : []), ...(isByAgent ? ['agent'] : []), ...able.map(one => one.kind)]
}

/** Whether an action is possible for a server as it is now. */
export function isPossibleIn(verb: ServerVerb, row: Possible, account: Pick<AccountState, 'kind'> | null): boolean {
  const { status } = row
  const capabilities = account && cloudKindOf(account.kind)?.capabilities
  if (isUncertain(row)) return verb === 'delete' || (verb === 'provision' && (capabilities?.uniqueNames ?? false))
  if (verb === 'resize') return capabilities?.resizableIn.includes(status as CloudStatus) ?? false
  if (verb === 'rebuild') return capabilities?.rebuildableIn.includes(status as CloudStatus) ?? false
  return verbRules[verb].possibleIn.includes(status)
}

/**
 * Whether it is not known if a server was bought: its order was sent, and nothing of it was found yet. Name and order stay as they are,
 * so that the same order can be sent again.
 */
const isUncertain = ({ status, providerRef, order }: Possible): boolean =>
  status === 'error' && providerRef === null && order !== null

/** Whether agents can perform an action. */
export const isByAgents = (verb: ServerVerb): boolean => needs[verb] !== undefined

/** Why an agent can’t perform an action that agents can perform. */
export function whyNotByAgent(agent: AgentAbility, verb: ServerVerb): string {
  if (agent.state !== 'reporting') return `The agent of the server is ${agent.state}, so it can’t perform the action ${verb}.`
  if (!takesCommands(agent)) return `The shell agent only reports, so it can’t perform the action ${verb}.`
  const reason = whyNotAsRoot(agent)
  if (reason !== null) return reason
  if (verb === 'update_agent')
    return agent.allow.includes('update')
      ? `The agent has version ${agent.version}, and this hub has no newer one.`
      : notAllowed('update')
  return notAllowed(verb === 'restart_unit' ? 'restart:UNIT' : 'reboot')
}

/** Why an agent can’t do anything as root, whatever the owner of the server allows. Null if it can. */
export const whyNotAsRoot = ({ facts }: Pick<AgentRow, 'facts'>): string | null =>
  facts?.agent_as_root === false
    ? 'The server doesn’t run systemd, so its agent can’t run commands as root: restart the server or its services, set its firewall, or update itself.'
    : null

/** Why an agent can’t do what needs a permission. */
export const notAllowed = (permission: string): string =>
  `The owner of the server doesn’t allow it: the line \`allow\` in /etc/bailiwick-agent/agent.conf must contain \`${permission}\`.`
