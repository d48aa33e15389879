import { useIsMutating, useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call, chooseTabWorkspace, type Refused } from '../client'
import { toast } from '../parts/toast'
import { queries } from '../queries'

const key = ['sign-out']

/** Whether the session is being ended: nothing may be read any more, since it would be refused. */
export const useIsSigningOut = (): boolean => useIsMutating({ mutationKey: key }) > 0

/** Ends the session, and leads to the login. Whoever signs in next begins in a workspace of their own. */
export function useSignOut(): () => void {
  const navigate = useNavigate()
  const { mutate } = useMutation<void, Refused>({
    mutationKey: key,
    mutationFn: async () => {
      await queries.cancelQueries()
      await call({ method: 'DELETE', path: '/sessions' })
      chooseTabWorkspace(null)
      await navigate({ to: '/login' })
      queries.clear()
    },
    onError: error => toast.failed(error),
  })
  return () => mutate()
}
