import { entryOf, entryOfId, type ResourceType } from '../../registry'

/** A change as reported by the stream. The id `*` means many resources of this type. */
export interface Change {
  type: string
  id: string
  action: string
}

// Rows that are not resources of their own: the paths of the resources they belong to, by id prefix.
const pathsOfParts: Record<string, readonly string[]> = {
  mtr: ['/monitors', '/overview'],
  rrset: ['/dns/zones', '/dns/records'],
}

/** API paths whose responses change with a resource. The first is its own, with `/{id}` for one resource. */
function pathsOf({ type, id }: Change): readonly string[] {
  // The id `*` stands for many resources of the type.
  const entry = id === '*' ? entryOf(type as ResourceType) : entryOfId(id)
  if (entry?.path) return [entry.path, ...(entry.alsoIn ?? [])]
  return pathsOfParts[id.slice(0, id.indexOf('_'))] ?? []
}

/** Below the path of the audit log, but it never changes. */
export const constantPath = '/audit-events/catalog'

/** Returns the API paths whose responses may have changed. Every change affects the audit log and the events. */
export function affectedPaths(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(['/audit-events', '/events', ...changes.flatMap(pathsOf)])
}

/** Returns the API path of the changed resource. Null if the dashboard doesn't use it. */
export function resourceApiPath(change: Change): string | null {
  const [own] = pathsOf(change)
  return own === undefined || change.id === '*' ? null : `${own}/${change.id}`
}

/** True if a path is `above` or below it. */
export const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`)
