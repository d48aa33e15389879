import type { ReactNode } from 'react'
import type { SshKeyView } from '../../../features/servers/ssh-keys/shapes'
import { useFirst } from '../../parts/pick-field'
import { Problem } from '../../parts/problem'
import { useList } from '../../queries'
import { useCatalog } from './accounts'

/** Shows a form once everything that it offers has loaded, so that its layout is stable. */
export function WithCatalog({ accountId, children }: { accountId: string; children: ReactNode }) {
  const parts = [
    useCatalog(accountId, 'locations'),
    useCatalog(accountId, 'sizes'),
    useCatalog(accountId, 'images'),
    useCatalog(accountId, 'networks'),
  ]
  const keys = useList<SshKeyView>('/ssh-keys', { sort: 'name' })
  const firewalls = useFirst('/firewalls')
  // If it can’t be refetched, the form stays, with what was entered.
  const failed = parts.find(one => one.isLoadingError)
  if (failed) return <Problem error={failed.error!} onRetry={() => parts.forEach(one => void one.refetch())} />
  if (keys.isLoading || firewalls.isLoading || parts.some(one => one.isPending))
    return <div className="h-[40rem] animate-pulse rounded-lg bg-hover" aria-busy aria-label="Loading" />
  return children
}
