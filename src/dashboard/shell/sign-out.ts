import { useNavigate } from '@tanstack/react-router'
import { chooseTabWorkspace } from '../client'
import { queries, useSend } from '../queries'

/** Ends the session, and leads to the login. Whoever signs in next begins in a workspace of their own. */
export function useSignOut(): () => void {
  const navigate = useNavigate()
  const send = useSend({
    onDone: () => {
      chooseTabWorkspace(null)
      void navigate({ to: '/login' }).then(() => queries.clear())
    },
  })
  return () => send.mutate({ method: 'DELETE', path: '/sessions' })
}
