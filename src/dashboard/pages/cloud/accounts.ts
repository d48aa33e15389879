import type { CloudAccountView, CloudKindView } from '../../../features/servers/accounts/shapes'
import type { CheckedAccounts } from '../../parts/account-check'
import { useOne } from '../../queries'

/** How checks of cloud accounts are explained. */
export const checkedAccounts: CheckedAccounts = { noun: 'cloud', help: '/docs/cloud-accounts#health-checks' }

/** Paths that change with an account and its servers. */
export const invalidates = ['/cloud-accounts', '/servers', '/overview']

export const useCloudKinds = () => useOne<{ data: CloudKindView[] }>('/cloud-kinds')
export const useAccounts = () => useOne<{ data: CloudAccountView[] }>('/cloud-accounts')

/** Titles of kinds of clouds. Blank while loading. */
export function useCloudKindTitles(): (kind: string) => string {
  const { data } = useCloudKinds()
  return kind => data?.data.find(one => one.kind === kind)?.title ?? '\u00a0'
}

/** Names of accounts by id. Blank while loading. */
export function useAccountNames(): (id: string) => string {
  const { data } = useAccounts()
  return id => (data ? (data.data.find(one => one.id === id)?.name ?? id) : '\u00a0')
}

type Catalogs = 'locations' | 'sizes' | 'images' | 'networks'

/** A part of what an account offers. Null reads nothing. */
export function useCatalog<Row>(accountId: string | null, name: Catalogs) {
  return useOne<{ data: Row[]; as_of: string }>(accountId === null ? null : `/cloud-accounts/${accountId}/${name}`)
}
