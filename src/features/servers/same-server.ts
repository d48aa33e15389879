import type { CloudServer } from './clouds/cloud'
import type { ServerRow } from './view'

type Known = Pick<ServerRow, 'id' | 'status' | 'cloud'>
type Seen = Pick<CloudServer, 'mark' | 'identity' | 'status'>

/**
 * Whether what has the ref of a server is another server: some clouds use the refs of deleted servers again. Where an identity is not
 * known, only marks can tell: a server that Bailiwick created has one. One without it may be the same, unless the server was gone before,
 * or it is only being created.
 */
export function isAnother({ id, status, cloud }: Known, { mark, identity, status: seen }: Seen): boolean {
  const isIdentical = sameIdentity(cloud, identity)
  if (isIdentical === false) return true
  if (mark === id || mark === (cloud?.mark ?? null)) return false
  return mark !== null || (isIdentical === null && (status === 'missing' || (cloud !== null && seen === 'provisioning')))
}

/** Whether a server is surely the one with this mark or identity. */
export const isSurelySame = (known: Known, seen: Seen): boolean =>
  !isAnother(known, seen) && (seen.mark === known.id || sameIdentity(known.cloud, seen.identity) === true)

/** A server as reported, with its identity as far as it is known: it can't be read while its node is offline. */
export const withIdentity = ({ cloud }: Known, seen: CloudServer): CloudServer =>
  seen.identity === null && cloud?.identity ? { ...seen, identity: cloud.identity } : seen

/** Null if one of the identities is not known. */
const sameIdentity = (cloud: CloudServer | null, identity: string | null): boolean | null =>
  identity === null || (cloud?.identity ?? null) === null ? null : cloud!.identity === identity
