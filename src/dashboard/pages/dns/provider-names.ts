import type { DnsProviderKindView } from '../../../features/dns/accounts/shapes'
import { useOne } from '../../queries'

/** Names of DNS providers by id. Blank while loading: showing the id first would shift the layout. */
export function useProviderNames(): (id: string) => string {
  const { data } = useOne<{ data: { id: string; name: string }[] }>('/dns/providers')
  return id => (data ? (data.data.find(one => one.id === id)?.name ?? id) : '\u00a0')
}

/** Titles of kinds of DNS providers. Blank while loading. */
export function useProviderKindTitles(): (kind: string) => string {
  const { data } = useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')
  return kind => (kind === 'builtin' ? 'Built-in' : (data?.data.find(one => one.kind === kind)?.title ?? '\u00a0'))
}
