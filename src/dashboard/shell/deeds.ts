import { useNavigate } from '@tanstack/react-router'
import { Keyboard, LogOut, Terminal, User, type LucideIcon } from 'lucide-react'
import { usePrefer } from '../preferences'
import type { Person } from '../session'
import { places } from './navigation'
import { themes } from './side'
import { useSignOut } from './sign-out'

/** Something to do from anywhere. */
export interface Deed {
  label: string
  icon: LucideIcon
  run(): void
}

/** What a person can do from anywhere. */
export function useDeeds(person: Person, opens: { apiCalls(): void; sheet(): void }): Deed[] {
  const navigate = useNavigate()
  const prefer = usePrefer()
  const signOut = useSignOut()
  const go = (to: string, label: string, icon: LucideIcon): Deed => ({ label, icon, run: () => void navigate({ to }) })
  const iconOf = (to: string) => places.flatMap(group => group.places).find(one => one.to === to)!.icon
  return [
    ...(person.mayWrite
      ? [
          go('/monitors/new', 'New monitor', iconOf('/monitors')),
          go('/heartbeats/new', 'New heartbeat', iconOf('/heartbeats')),
          go('/maintenance/new', 'New maintenance window', iconOf('/maintenance')),
          go('/channels/new', 'New channel', iconOf('/channels')),
          go('/webhooks/new', 'New webhook endpoint', iconOf('/webhooks')),
        ]
      : []),
    ...(person.mayAdminister ? [go('/tokens/new', 'New token', iconOf('/tokens'))] : []),
    { label: 'As API calls', icon: Terminal, run: opens.apiCalls },
    { label: 'Keys', icon: Keyboard, run: opens.sheet },
    ...themes.map(([theme, label, icon]) => ({ label: `Theme: ${label.toLowerCase()}`, icon, run: () => prefer({ theme }) })),
    go('/profile', 'Your profile', User),
    { label: 'Sign out', icon: LogOut, run: signOut },
  ]
}
