import type { SessionView } from '../../access/session-shapes'
import { Button } from '../parts/button'
import { Ago } from '../parts/time'
import { useSwitch, type Person } from '../session'
import { useSignOut } from './sign-out'

/** What a person sees who belongs to no workspace any more. */
export function Nowhere({ email }: { email: string }) {
  const signOut = useSignOut()
  return (
    <main className="mx-auto max-w-md p-8 pt-[20dvh] text-center">
      <h1 className="text-lg font-semibold">You are in no workspace</h1>
      <p className="mt-2 mb-4 text-muted">Whoever runs one can invite {email} to it.</p>
      <Button onClick={signOut}>Sign out</Button>
    </main>
  )
}

/** What the people of a workspace see while the operator keeps everybody out of it. */
export function Suspended({ person, workspace }: { person: Person; workspace: SessionView['workspace'] }) {
  const signOut = useSignOut()
  const choose = useSwitch()
  const others = person.workspaces.filter(one => one.id !== workspace.id)
  return (
    <main className="mx-auto max-w-md p-8 pt-[20dvh] text-center">
      <h1 className="text-lg font-semibold wrap-anywhere">
        <bdi>{workspace.name}</bdi> is suspended
      </h1>
      <p className="mt-2 wrap-anywhere">{workspace.suspension_reason}</p>
      <p className="mt-2 mb-4 text-muted">
        Since <Ago at={workspace.suspended_at} />. Nothing was deleted. Whoever runs this hub can let everybody in again.
      </p>
      <div className="flex flex-col gap-2">
        {others.map(one => (
          <Button key={one.id} kind="main" onClick={() => void choose(one.id)}>
            <span className="min-w-0 truncate">
              Go to <bdi>{one.name}</bdi>
            </span>
          </Button>
        ))}
        <Button onClick={signOut}>Sign out</Button>
      </div>
    </main>
  )
}
