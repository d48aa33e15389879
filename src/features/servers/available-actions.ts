import { cloudKindOf } from './clouds'
import type { CloudStatus, ServerVerb } from './clouds/cloud'
import type { ServerStatus, ServerView } from './shapes'
import { verbRules } from './actions/verbs'
import type { AccountState } from './accounts/view'

/** The actions that are possible for a server now, and the ways to perform each. */
export function availableActions(
  row: { status: ServerStatus; actionId: string | null },
  account: AccountState | null,
): ServerView['actions'] {
  if (row.actionId !== null) return []
  return supportedVerbs(account)
    .filter(verb => isPossibleIn(verb, row.status, account))
    .map(action => ({ action, via: ['cloud'] }))
}

/** The actions that a server supports in some status. */
export function supportedVerbs(account: AccountState | null): readonly ServerVerb[] {
  const kind = account && cloudKindOf(account.kind)
  return kind ? kind.capabilities.verbs.filter(verb => !account.lacks.includes(verb)) : []
}

/** Whether an action is possible in a status. */
export function isPossibleIn(verb: ServerVerb, status: ServerStatus, account: AccountState | null): boolean {
  const capabilities = account && cloudKindOf(account.kind)?.capabilities
  if (verb === 'resize') return capabilities?.resizableIn.includes(status as CloudStatus) ?? false
  if (verb === 'rebuild') return capabilities?.rebuildableIn.includes(status as CloudStatus) ?? false
  return verbRules[verb].possibleIn.includes(status)
}
