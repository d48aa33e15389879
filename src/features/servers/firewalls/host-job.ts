import type { JobDraft } from '../../../core/jobs/draft'

export const enforceHostKind = 'cloud.enforce-host-firewall'

/** Job that lets the agent of a server enforce its firewalls. */
export const enforceHostJobFor = (serverId: string): JobDraft => ({
  kind: enforceHostKind,
  payload: { server_id: serverId },
  lane: serverId,
  uniqueKey: serverId,
  replaces: true,
})
