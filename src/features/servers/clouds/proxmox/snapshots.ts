import type { CloudSnapshot, CloudStorage, SnapshotCommand, Started } from '../cloud'
import { newerThan } from '../newer-snapshots'
import type { Commands } from './commands'
import type { Guest } from './guests'
import type { KnownGuests } from './known-guests'
import { storagesOf } from './config'
import { snapshotNameOf } from './snapshot-list'
import type { Steps } from './steps'

/** Snapshots of guests. They are deleted with their guest. A snapshot has no tags, so its name is its mark. */
export class ProxmoxSnapshots implements CloudStorage<CloudSnapshot, SnapshotCommand> {
  constructor(
    private readonly steps: Steps,
    private readonly known: KnownGuests,
    private readonly commands: Commands,
  ) {}

  async list(): Promise<CloudSnapshot[]> {
    const inventory = await this.steps.inventory()
    const guests = inventory.guests.filter(one => !one.template && inventory.online.has(one.node))
    await this.known.readConfigs(guests, inventory)
    const found: CloudSnapshot[] = []
    // The configuration of a guest with snapshots names the current one, so that the others needn't be asked.
    for (const guest of guests)
      if (this.known.configOf(guest.vmid)?.parent !== undefined) found.push(...(await this.steps.snapshots(guest)))
    return found
  }

  async get(ref: string): Promise<CloudSnapshot | null> {
    const guest = await this.#guest(guestOf(ref))
    return guest ? ((await this.steps.snapshots(guest)).find(one => one.ref === ref) ?? null) : null
  }

  async find({ mark }: { mark: string }, serverRef: string | null): Promise<CloudSnapshot | null> {
    return serverRef === null ? null : await this.get(`${serverRef}/${mark}`)
  }

  /** ZFS can only restore the newest snapshot. Storages that the token can't see are taken for others. */
  async newerThan(snapshotRef: string): Promise<CloudSnapshot[] | null> {
    const guest = await this.#guest(guestOf(snapshotRef))
    if (!guest) return null
    const used = storagesOf(await this.steps.configOf(guest))
    const types = await this.steps.storageTypes(guest.node)
    if (!used.some(one => zfsTypes.has(types.get(one) ?? ''))) return null
    return newerThan(await this.steps.snapshots(guest), snapshotRef)
  }

  async start(ref: string | null): Promise<Started> {
    return await this.commands.deleteSnapshot(guestOf(ref!), snapshotNameOf(ref!))
  }

  async #guest(ref: string): Promise<Guest | undefined> {
    return (await this.steps.inventory()).guests.find(one => String(one.vmid) === ref && !one.template)
  }
}

/** Local and by iSCSI. */
const zfsTypes: ReadonlySet<string> = new Set(['zfspool', 'zfs'])

const guestOf = (ref: string): string => ref.slice(0, ref.indexOf('/'))
