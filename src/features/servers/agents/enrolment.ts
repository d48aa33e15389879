/** Which server an agent that is being enrolled reports about. */

/** A server that could be meant, and its agent. */
export interface Candidate {
  serverId: string
  /** Null if it has no agent. */
  agent: { machineIdHash: string; isReporting: boolean } | null
}

/** What is known when an agent asks to be enrolled. */
export interface Enrolment {
  machineIdHash: string
  /** Whether all agents of the key have to be approved. */
  isManual: boolean
  /** Whether the key allows linking by address. */
  mayMatch: boolean
  /** The server that the key is for. */
  ofKey: Candidate | null
  /** The server that an agent of the same machine reports or reported about; null for a machine that is not known. */
  ofMachine: { serverId: string | null } | null
  /** The server of a cloud account that has the address from which the agent calls. */
  ofAddress: Candidate | null
}

/** The decision. `serverId` is null for a new server. */
export interface Decision {
  serverId: string | null
  needsApproval: boolean
}

/**
 * Decides which server an agent reports about, and whether someone has to approve it. An agent never takes over a server by itself
 * whose agent is reporting from another machine, and no server that was not named by the key: machines are cloned with their ids, and
 * ids of machines are no secrets.
 */
export function decideEnrolment({ machineIdHash, isManual, mayMatch, ofKey, ofMachine, ofAddress }: Enrolment): Decision {
  const decided = (serverId: string | null, needsApproval: boolean) => ({ serverId, needsApproval: needsApproval || isManual })
  if (ofKey) {
    const isTaken = ofKey.agent !== null && ofKey.agent.isReporting && ofKey.agent.machineIdHash !== machineIdHash
    return decided(ofKey.serverId, isTaken)
  }
  if (ofMachine) return decided(ofMachine.serverId, true)
  if (ofAddress) return decided(ofAddress.serverId, ofAddress.agent !== null || !mayMatch)
  return decided(null, false)
}

const containers = new Set(['lxc', 'lxc-libvirt', 'docker', 'podman', 'openvz', 'systemd-nspawn', 'rkt', 'wsl', 'proot', 'pouch'])

/** The kind of a server by its virtualization, in the words of systemd-detect-virt. */
export const kindOf = (virtualization: string | undefined): 'vm' | 'container' | 'bare_metal' | 'external' =>
  virtualization === undefined
    ? 'external'
    : virtualization === 'none'
      ? 'bare_metal'
      : containers.has(virtualization)
        ? 'container'
        : 'vm'
