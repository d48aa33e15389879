import { useEffect } from 'react'
import type { UserView } from '../features/people/profile/shapes'
import { setTimePreferences } from './parts/timezone'
import { useSend } from './queries'
import { useSession } from './session'
import { chooseTheme } from './theme'

export type Preferences = UserView['preferences']

/** Display preferences of the signed-in user. */
export const usePreferences = (): Preferences | undefined => useSession().data?.user.preferences

/** Updates the preferences of the user, which apply in all their browsers. A theme is applied immediately. */
export function useUpdatePreferences(): (changed: Partial<Preferences>) => void {
  const send = useSend({ invalidates: ['/sessions', '/users'] })
  return changed => {
    if (changed.theme) chooseTheme(changed.theme)
    send.mutate({ method: 'PATCH', path: '/users/me', body: { preferences: changed } })
  }
}

/** Applies the user's time zone and clock. @returns a key that changes when the page has to be rendered again */
export function useTimePreferences(): string {
  const { timezone = null, hour_cycle = 'auto' } = usePreferences() ?? {}
  setTimePreferences({ timezone, hour_cycle })
  return `${timezone} ${hour_cycle}`
}

/** Applies the theme the user chose, in this browser or another one. */
export function usePreferredTheme(): void {
  const theme = usePreferences()?.theme
  useEffect(() => {
    if (theme) chooseTheme(theme)
  }, [theme])
}
