import type { JobDraft } from '../../../core/jobs/queue'

export const resolveAliasKind = 'dns.resolve-alias'

/** Looks up the target of an ALIAS: at once, in the place of a lookup that waits, or at a time (ms UTC). */
export const resolveAlias = ({ rrsetId, workspaceId }: { rrsetId: string; workspaceId: string }, at?: number): JobDraft => ({
  kind: resolveAliasKind,
  lane: workspaceId,
  payload: { rrset_id: rrsetId },
  uniqueKey: rrsetId,
  ...(at === undefined ? { replaces: true } : { runAt: at }),
})
