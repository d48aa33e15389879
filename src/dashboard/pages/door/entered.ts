import { useNavigate, useSearch } from '@tanstack/react-router'
import { queries } from '../../queries'

/** Goes on after a sign-in: to the page that was asked for, or to the overview. What was read before is forgotten. */
export function useEntered(): () => void {
  const navigate = useNavigate()
  const { to }: { to?: string } = useSearch({ strict: false })
  return () => {
    queries.clear()
    // Of this place alone: a link may not lead people on to another one.
    void navigate({ to: to?.startsWith('/') && !to.startsWith('//') ? to : '/', replace: true })
  }
}
