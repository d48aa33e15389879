import type { JobDraft } from '../../../core/jobs/draft'

export const resolveAliasKind = 'dns.resolve-alias'
export const followAliasesKind = 'dns.follow-aliases'

/** Job that resolves an ALIAS: right away, replacing a scheduled lookup, or at a given time (ms UTC). */
export const resolveAlias = ({ rrsetId, workspaceId }: { rrsetId: string; workspaceId: string }, at?: number): JobDraft => ({
  kind: resolveAliasKind,
  lane: workspaceId,
  payload: { rrset_id: rrsetId },
  uniqueKey: rrsetId,
  ...(at === undefined ? { replaces: true } : { runAt: at }),
})

/**
 * Job that follows the ALIAS records whose path includes a zone. Replaces a queued one, so that it doesn’t run before the commit.
 */
export const followAliases = (zone: { workspaceId: string; name: string }): JobDraft => ({
  kind: followAliasesKind,
  lane: zone.workspaceId,
  payload: { workspace_id: zone.workspaceId, zone: zone.name },
  uniqueKey: `${zone.workspaceId} ${zone.name}`,
  replaces: true,
})
