import type { SessionView } from '../../features/people/sign-in/shapes'
import { Button } from '../parts/button'
import { RelativeTime } from '../parts/time'
import { useSwitchWorkspace, type Person } from '../session'
import { useSignOut } from './sign-out'

/** Shown to users who no longer belong to any workspace. */
export function NoWorkspace({ email }: { email: string }) {
  const signOut = useSignOut()
  return (
    <main className="mx-auto max-w-md p-8 pt-[20dvh] text-center">
      <h1 className="text-lg font-semibold">You don’t belong to any workspace</h1>
      <p className="mt-2 mb-4 text-muted">Ask the owner of a workspace to invite {email}.</p>
      <Button onClick={signOut}>Sign out</Button>
    </main>
  )
}

/** Shown to the members of a workspace that the operator has suspended. */
export function SuspendedWorkspace({ person, workspace }: { person: Person; workspace: SessionView['workspace'] }) {
  const signOut = useSignOut()
  const switchWorkspace = useSwitchWorkspace()
  const others = person.workspaces.filter(one => one.id !== workspace.id)
  return (
    <main className="mx-auto max-w-md p-8 pt-[20dvh] text-center">
      <h1 className="text-lg font-semibold wrap-anywhere">
        <bdi>{workspace.name}</bdi> is suspended
      </h1>
      <p className="mt-2 wrap-anywhere">{workspace.suspension_reason}</p>
      <p className="mt-2 mb-4 text-muted">
        It was suspended <RelativeTime at={workspace.suspended_at} />. No data was deleted. Contact the operator of this
        installation to restore access.
      </p>
      <div className="flex flex-col gap-2">
        {others.map(one => (
          <Button key={one.id} kind="primary" onClick={() => void switchWorkspace(one.id)}>
            <span className="min-w-0 truncate">
              Switch to <bdi>{one.name}</bdi>
            </span>
          </Button>
        ))}
        <Button onClick={signOut}>Sign out</Button>
      </div>
    </main>
  )
}
