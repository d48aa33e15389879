import { useEffect } from 'react'
import type { UserView } from '../access/user-shapes'
import { showTimesIn } from './parts/timezone'
import { useSend } from './queries'
import { useSession } from './session'
import { chooseTheme } from './theme'

export type Preferences = UserView['preferences']

/** How the person who is signed in wants the pages. */
export const usePreferences = (): Preferences | undefined => useSession().data?.user.preferences

/** Keeps what a person prefers, for all their browsers. A theme is shown at once. */
export function usePrefer(): (changed: Partial<Preferences>) => void {
  const send = useSend({ stale: ['/sessions', '/users'] })
  return changed => {
    if (changed.theme) chooseTheme(changed.theme)
    send.mutate({ method: 'PATCH', path: '/users/me', body: { preferences: changed } })
  }
}

/** Shows times as the person chose. @returns another text whenever what stands on the page is to be drawn anew */
export function usePreferredTimes(): string {
  const { timezone = null, hour_cycle = 'auto' } = usePreferences() ?? {}
  showTimesIn({ timezone, hour_cycle })
  return `${timezone} ${hour_cycle}`
}

/** Shows the theme that the person chose, in this browser or another one. */
export function usePreferredTheme(): void {
  const theme = usePreferences()?.theme
  useEffect(() => {
    if (theme) chooseTheme(theme)
  }, [theme])
}
