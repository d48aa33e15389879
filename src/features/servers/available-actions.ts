import { cloudKindOf } from './clouds'
import { internalVerbs, serverVerbs, type CloudStatus, type ServerVerb } from './clouds/cloud'
import { controllerKinds } from './controllers'
import type { ServerStatus, ServerView } from './shapes'
import { verbRules } from './actions/verbs'
import type { AccountState } from './accounts/view'

/** A controller of a server, as far as its actions depend on it. */
interface Controlled {
  kind: string
}

/** The actions that are possible for a server now, and the ways to perform each. */
export function availableActions(
  row: { status: ServerStatus; actionId: string | null },
  account: AccountState | null,
  controllers: readonly Controlled[],
): ServerView['actions'] {
  if (row.actionId !== null) return []
  return serverVerbs.flatMap(action => {
    const via = waysOf(action, account, controllers)
    return via.length > 0 && isPossibleIn(action, row.status, account) ? [{ action, via }] : []
  })
}

/** The ways to perform an action, the preferred one first. */
export function waysOf(verb: ServerVerb, account: AccountState | null, controllers: readonly Controlled[]): string[] {
  if (internalVerbs.includes(verb)) return []
  const kind = account && cloudKindOf(account.kind)
  const atCloud = kind?.capabilities.verbs.includes(verb) && !account!.lacks.includes(verb)
  const able = controllerKinds.filter(
    one => controllers.some(({ kind: has }) => has === one.kind) && one.verbs.some(it => it === verb),
  )
  return [...(atCloud ? ['cloud'] : []), ...able.map(one => one.kind)]
}

/** Whether an action is possible in a status. */
export function isPossibleIn(verb: ServerVerb, status: ServerStatus, account: AccountState | null): boolean {
  const capabilities = account && cloudKindOf(account.kind)?.capabilities
  if (verb === 'resize') return capabilities?.resizableIn.includes(status as CloudStatus) ?? false
  if (verb === 'rebuild') return capabilities?.rebuildableIn.includes(status as CloudStatus) ?? false
  return verbRules[verb].possibleIn.includes(status)
}
