import { useQueryClient } from '@tanstack/react-query'
import type { SessionView } from '../access/session-shapes'
import { call, chooseTabWorkspace, tabWorkspace } from './client'
import { useOne } from './queries'

export type Role = 'owner' | 'admin' | 'member' | 'viewer'

interface OwnWorkspace {
  id: string
  name: string
  role: Role
}

/** Who is signed in, and what they may do in the workspace that this tab looks at. */
export interface Person {
  id: string
  email: string
  name: string
  operator: boolean
  workspace: OwnWorkspace
  workspaces: OwnWorkspace[]
  /** May change what is there: everybody but viewers. */
  mayWrite: boolean
  /** Sees tokens, members, the audit log and the plan: everybody but viewers. */
  seesAccount: boolean
  /** Changes them: owners and admins. */
  mayAdminister: boolean
}

/** The session; `error` with status 401 when nobody is signed in. */
export const useSession = () => useOne<SessionView>('/sessions/current')

/** The person of a session, in the workspace of this tab. Null when they belong to none. */
export function personOf({ user, workspace_id }: SessionView): Person | null {
  const chosen = tabWorkspace() ?? workspace_id
  const workspace = user.workspaces.find(one => one.id === chosen) ?? user.workspaces[0]
  if (!workspace) return null
  return {
    ...user,
    workspace,
    mayWrite: workspace.role !== 'viewer',
    seesAccount: workspace.role !== 'viewer',
    mayAdminister: workspace.role === 'owner' || workspace.role === 'admin',
  }
}

/** The person who is signed in; only below the shell, which waits for them. */
export function usePerson(): Person {
  const { data } = useSession()
  const person = data && personOf(data)
  if (!person) throw new Error('pages of the shell are shown to people who are signed in')
  return person
}

/** Looks at another workspace in this tab; tabs that are opened later begin there, too. */
export function useSwitch(): (workspaceId: string) => Promise<void> {
  const client = useQueryClient()
  return async id => {
    chooseTabWorkspace(id)
    // That it could not be kept is no reason not to look at it.
    await call({ method: 'PATCH', path: '/sessions/current', body: { workspace_id: id } }).catch(() => undefined)
    await client.resetQueries()
  }
}
