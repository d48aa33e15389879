import type { CloudServer } from './clouds/cloud'
import type { ServerRow } from './view'

/**
 * Whether what has the ref of a server is another server: some clouds use the refs of deleted servers again. A server that Bailiwick
 * created has a mark. One without it may be the same, unless the server was gone before, or it is only being created.
 */
export const isAnother = (
  { id, status, cloud }: Pick<ServerRow, 'id' | 'status' | 'cloud'>,
  { mark, status: seen }: Pick<CloudServer, 'mark' | 'status'>,
): boolean =>
  mark !== id &&
  mark !== (cloud?.mark ?? null) &&
  (mark !== null || status === 'missing' || (cloud !== null && seen === 'provisioning'))
