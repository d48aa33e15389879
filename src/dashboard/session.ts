import { useQueryClient } from '@tanstack/react-query'
import type { SessionView } from '../features/people/sign-in/shapes'
import { call, setTabWorkspace, tabWorkspace } from './client'
import { useOne } from './queries'

type User = SessionView['user']

/** The signed-in user, and their permissions in the current workspace of this tab. */
export interface Person extends User {
  workspace: User['workspaces'][number]
  /** Can change resources: everyone except viewers. */
  canWrite: boolean
  /** Can read tokens, members, the audit log, and the plan: everyone except viewers. */
  canReadAccount: boolean
  /** Can change those: owners and admins. */
  canAdminister: boolean
}

/** The current session. `error` has status 401 if no one is signed in. */
export const useSession = () => useOne<SessionView>('/sessions/current')

/** Returns the user of a session in the workspace of this tab. Null if they belong to no workspace. */
export function personOf({ user, workspace_id }: SessionView): Person | null {
  const workspaceId = tabWorkspace() ?? workspace_id
  const workspace = user.workspaces.find(one => one.id === workspaceId) ?? user.workspaces[0]
  if (!workspace) return null
  return {
    ...user,
    workspace,
    canWrite: workspace.role !== 'viewer',
    canReadAccount: workspace.role !== 'viewer',
    canAdminister: workspace.role === 'owner' || workspace.role === 'admin',
  }
}

/** The signed-in user. Only for pages inside the shell, which loads the session first. */
export function usePerson(): Person {
  const { data } = useSession()
  const person = data && personOf(data)
  if (!person) throw new Error('usePerson must be used inside the shell')
  return person
}

/** Switches this tab to another workspace. New tabs start there as well. */
export function useSwitchWorkspace(): (workspaceId: string) => Promise<void> {
  const client = useQueryClient()
  return async id => {
    setTabWorkspace(id)
    // Switch even if storing the choice fails.
    await call({ method: 'PATCH', path: '/sessions/current', body: { workspace_id: id } }).catch(() => undefined)
    await client.resetQueries()
  }
}
