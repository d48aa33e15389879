import { useNavigate, useSearch } from '@tanstack/react-router'
import { queryClient } from '../../queries'

/** Continues after a sign-in with the requested page or the overview. Clears cached data. */
export function useAfterSignIn(): () => void {
  const navigate = useNavigate()
  const { to }: { to?: string } = useSearch({ strict: false })
  return () => {
    queryClient.clear()
    // Only paths of this site, to prevent open redirects.
    void navigate({ to: to?.startsWith('/') && !to.startsWith('//') ? to : '/', replace: true })
  }
}
