import type { Clock } from '../../../../core/clock'
import { CloudError } from '../cloud'
import type { AccountState } from './account-state'
import type { ProxmoxClient } from './client'

/** Proposes VMIDs for new guests. Proxmox proposes the same number until it is used, so numbers proposed a short time ago are skipped. */
export class Vmids {
  constructor(
    private readonly client: ProxmoxClient,
    private readonly clock: Clock,
    private readonly state: AccountState,
  ) {}

  async propose(): Promise<number> {
    const now = this.clock.now()
    const { proposed } = this.state
    for (const [vmid, at] of proposed) if (at + reservedMs < now) proposed.delete(vmid)
    let vmid = Number(await this.client.get('/cluster/nextid'))
    if (!Number.isSafeInteger(vmid) || vmid < 100)
      throw new CloudError('invalid_response', 'The response of Proxmox has no VMID.')
    while (proposed.has(vmid)) vmid = await this.#nextFree(vmid + 1)
    proposed.set(vmid, now)
    return vmid
  }

  /** The first VMID from this one on that is not used. */
  async #nextFree(from: number): Promise<number> {
    for (let vmid = from; vmid < from + maxProbes; vmid++) {
      if (this.state.proposed.has(vmid)) continue
      try {
        return Number(await this.client.get('/cluster/nextid', { vmid }))
      } catch (error) {
        if (!(error instanceof CloudError) || error.failure !== 'invalid') throw error
      }
    }
    throw new CloudError('quota', `No VMID from ${from} to ${from + maxProbes - 1} is free.`)
  }
}

const reservedMs = 10 * 60_000
const maxProbes = 1000
