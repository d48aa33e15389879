import { useOne } from '../../queries'

/** Names of the DNS providers of the workspace by their ids; the id itself while they are not read. */
export function useProviderNames(): (id: string) => string {
  const { data } = useOne<{ data: { id: string; name: string }[] }>('/dns/providers')
  return id => data?.data.find(one => one.id === id)?.name ?? id
}
