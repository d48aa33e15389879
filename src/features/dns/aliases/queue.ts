import type { JobDraft } from '../../../core/jobs/queue'

export const resolveAliasKind = 'dns.resolve-alias'
export const followAliasesKind = 'dns.follow-aliases'

/** Looks up the target of an ALIAS: at once, in the place of a lookup that waits, or at a time (ms UTC). */
export const resolveAlias = ({ rrsetId, workspaceId }: { rrsetId: string; workspaceId: string }, at?: number): JobDraft => ({
  kind: resolveAliasKind,
  lane: workspaceId,
  payload: { rrset_id: rrsetId },
  uniqueKey: rrsetId,
  ...(at === undefined ? { replaces: true } : { runAt: at }),
})

/** Follows again what leads through a zone. Written over one that waits, so that that one does not run before this is committed. */
export const followAliases = (zone: { workspaceId: string; name: string }): JobDraft => ({
  kind: followAliasesKind,
  lane: zone.workspaceId,
  payload: { workspace_id: zone.workspaceId, zone: zone.name },
  uniqueKey: `${zone.workspaceId} ${zone.name}`,
  replaces: true,
})
