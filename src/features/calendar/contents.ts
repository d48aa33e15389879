import type { Permission } from '../../core/permissions'

/** What a calendar feed can include. */
export const feedContents = ['domains', 'certificates', 'maintenance'] as const
export type FeedContent = (typeof feedContents)[number]

/** The permissions to read it otherwise. Who sets up a feed, or sees its URL, must have them. */
export const readPermissionOf: Readonly<Record<FeedContent, Permission>> = {
  domains: 'domains.read',
  certificates: 'certificates.read',
  maintenance: 'monitoring.read',
}
