import type { Consequences } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { maxCommandLifeMs } from '../../../wire/agent-command'
import { sendCommand, withdrawCommands } from '../agents/send-command'

// What hosts do is reported to `recordHostFirewall`.

/** A rule set for a host. */
interface HostRuleset {
  agentId: string
  /** Input of `nft -f`. */
  ruleset: string
  /** SHA-256 of the rule set in hexadecimal. */
  digest: string
  /**
   * The host restores the rule set that was confirmed last after this time, or none if there is none, unless this one is confirmed. It
   * needs neither hub nor agent for it.
   */
  revertAfterSeconds: number
}

type Effects = Pick<Consequences, 'wakeTopics'>

/** Commands that follow from the rules of firewalls, and not from a request of their own. */
const byFirewall = { lifeMs: maxCommandLifeMs, requestedBy: { type: 'system', id: null, name: 'firewall' } }

/** Lets a host use a rule set once the transaction is committed. Commands for earlier ones are not sent from then on. */
export async function applyAtHost(
  tx: Tx,
  hub: Hub,
  { agentId, ruleset, digest, revertAfterSeconds }: HostRuleset,
): Promise<Effects> {
  await withdrawCommands(tx, agentId, ['firewall_apply', 'firewall_confirm'])
  const params = { ruleset, digest, revert_after_seconds: revertAfterSeconds }
  return await sendCommand(tx, hub, { agentId, name: 'firewall_apply', params, ...byFirewall })
}

/** Lets a host keep a rule set for good, also when it restarts. */
export const confirmAtHost = (tx: Tx, hub: Hub, { agentId, digest }: Pick<HostRuleset, 'agentId' | 'digest'>): Promise<Effects> =>
  sendCommand(tx, hub, { agentId, name: 'firewall_confirm', params: { digest }, ...byFirewall })
