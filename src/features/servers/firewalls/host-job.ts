import type { JobDraft } from '../../../core/jobs/draft'

export const enforceHostKind = 'cloud.enforce-host-firewall'

/** Why a host keeps the rules that it has for now. */
export const notReporting = 'The agent of the server is not reporting. It gets the change once it does.'

/** Job that lets the agent of a server enforce its firewalls. */
export const enforceHostJobFor = (serverId: string): JobDraft => ({
  kind: enforceHostKind,
  payload: { server_id: serverId },
  lane: serverId,
  uniqueKey: serverId,
  replaces: true,
})
