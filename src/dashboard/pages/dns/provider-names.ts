import { useOne } from '../../queries'

/** Names of the DNS providers of the workspace by their ids; nothing while they are not read, since an id has another length. */
export function useProviderNames(): (id: string) => string {
  const { data } = useOne<{ data: { id: string; name: string }[] }>('/dns/providers')
  return id => (data ? (data.data.find(one => one.id === id)?.name ?? id) : '\u00a0')
}
