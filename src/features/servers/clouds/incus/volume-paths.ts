/** A custom volume. */
interface Place {
  pool: string
  name: string
}

/** The path of the custom volumes of a storage pool. */
export const poolPath = (pool: string): string => `/storage-pools/${encodeURIComponent(pool)}/volumes/custom`

export const volumePath = ({ pool, name }: Place): string => `${poolPath(pool)}/${encodeURIComponent(name)}`

/** Names are unique in a storage pool. */
export const refIn = (pool: string, name: string): string => `${encodeURIComponent(pool)}/${encodeURIComponent(name)}`

/** The volume that a ref names. */
export function volumeIn(ref: string): Place {
  const [pool = '', name = ''] = ref.split('/').map(decodeURIComponent)
  return { pool, name }
}
