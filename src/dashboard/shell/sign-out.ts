import { useIsMutating, useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call, setTabWorkspace, type ApiError } from '../client'
import { toast } from '../parts/toast'
import { queryClient } from '../queries'
import { clearOpened } from '../recently-opened'

const key = ['sign-out']

/** Whether the user is signing out. Pages must stop sending requests, since those would fail. */
export const useIsSigningOut = (): boolean => useIsMutating({ mutationKey: key }) > 0

/** Ends the session and goes to the sign-in page. Clears the workspace of the tab and the recently opened resources, for the next user. */
export function useSignOut(): () => void {
  const navigate = useNavigate()
  const { mutate } = useMutation<void, ApiError>({
    mutationKey: key,
    mutationFn: async () => {
      await queryClient.cancelQueries()
      await call({ method: 'DELETE', path: '/sessions' })
      setTabWorkspace(null)
      clearOpened()
      await navigate({ to: '/login' })
      // Everything but what the sign-in page is fetching.
      queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== '/sessions/methods' })
    },
    onError: error => toast.error(error),
  })
  return () => mutate()
}
