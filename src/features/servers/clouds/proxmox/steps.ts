import type { Clock } from '../../../../core/clock'
import { mayHaveApplied } from '../../../../adapters/failure'
import { isObject } from '../../../../dns/octets'
import { CloudError, type CloudSnapshot, type Polled } from '../cloud'
import type { AccountState } from './account-state'
import type { ProxmoxClient } from './client'
import { bootDiskOf, configOf, diskBytesOf, networkOptions, sizeOptions, type Config } from './config'
import { taskFailure } from './failures'
import { isBeingCloned, inventoryOf, ownTag, pathOf, type Guest, type Inventory } from './guests'
import type { KnownGuests } from './known-guests'
import { notesOf, parseNotes } from './notes'
import { nodeOfTask, type CreationOrder, type ProxmoxOperation, type SnapshotStep, type StatusStep, type Step } from './operation'
import { snapshotsOf } from './snapshot-list'
import type { Vmids } from './vmids'

/** Settings for new guests. */
interface Placement {
  pool?: string
  storage?: string
  bridge?: string
}

/** What a step led to: the id of a task, `done`, `wait` to look again later, or `taken` if another guest has the VMID. */
type Outcome = { task: string } | 'done' | 'wait' | 'taken'

/** Takes the steps of operations. */
export class Steps {
  constructor(
    private readonly client: ProxmoxClient,
    private readonly clock: Clock,
    private readonly placement: Placement,
    private readonly state: AccountState,
    private readonly known: KnownGuests,
    private readonly vmids: Vmids,
  ) {}

  async inventory(): Promise<Inventory> {
    return inventoryOf(await this.client.get('/cluster/resources'))
  }

  async configOf(guest: Pick<Guest, 'node' | 'type' | 'vmid'>): Promise<Config> {
    return configOf(await this.client.get(`${pathOf(guest)}/config`))
  }

  /** Looks how far the task of an operation is, and takes the next steps until one takes longer. @throws CloudError */
  async advance(operation: ProxmoxOperation): Promise<Polled> {
    const { vmid, order } = operation
    let { steps, task } = operation
    const running = (now = vmid): Polled => {
      const againMs = steps[0] === 'clone' ? this.state.turn.pauseMs(now) : null
      const next = { ...operation, vmid: now, steps, task }
      return { state: 'running', operation: next, ref: String(now), ...(againMs !== null && { againMs }) }
    }
    if (task !== null) {
      const exit = await this.#exitOf(task)
      if (exit === 'running') {
        if (steps[0] === 'clone') this.state.turn.take(vmid, this.clock.now())
        return running()
      }
      this.changed(vmid)
      if (steps[0] === 'clone') this.state.turn.end(vmid)
      // The steps of a creation look at the guest, and do what is missing.
      if (exit === 'gone' && !order) return { state: 'gone' }
      task = null
      if (exit === 'ok') steps = steps.slice(1)
      else if (exit !== 'gone') {
        const { failure, title, ambiguous } = taskFailure(exit)
        // A rollback that was found among the tasks can't be repeated, because its snapshot is not known.
        const isFinal = failure !== 'locked' || (steps[0] === 'rollback' && !operation.snapshot)
        if (isFinal) throw new CloudError(failure, this.client.message(`${title}: ${exit}`), null, ambiguous)
        // The step did not begin. It is repeated with the next poll.
        return running()
      }
    }
    while (steps.length > 0) {
      const outcome = await this.#take(steps[0]!, operation)
      if (outcome === 'wait') return running()
      // The new VMID is stored before it is used.
      if (outcome === 'taken') return running(await this.vmids.propose())
      if (outcome !== 'done') {
        task = outcome.task
        return running()
      }
      steps = steps.slice(1)
    }
    return { state: 'done', ref: String(vmid) }
  }

  /** Remembers that a guest was changed, so that it is read again. */
  changed(vmid: number): void {
    this.state.changed.set(vmid, this.clock.now())
    this.known.outdate(vmid)
  }

  /** Starts a clone of a template, if no other one runs. @param guests all of the cluster */
  async clone({ vmid, order }: ProxmoxOperation, guests: readonly Guest[]): Promise<Outcome> {
    const { image, name, location } = order!
    const template = guests.find(one => one.template && String(one.vmid) === image)
    if (!template) throw new CloudError('not_found', `Proxmox has no template with the VMID ${image}.`)
    if (!this.state.turn.take(vmid, this.clock.now())) return 'wait'
    const { pool, storage } = this.placement
    this.changed(vmid)
    try {
      return {
        task: await this.client.begin('POST', `${pathOf(template)}/clone`, {
          newid: vmid,
          [template.type === 'qemu' ? 'name' : 'hostname']: name,
          description: notesOf(order!, vmid, true),
          pool,
          storage,
          // A linked clone is on the storage of its template.
          full: storage === undefined ? undefined : 1,
          target: location === null || location === template.node ? undefined : location,
        }),
      }
    } catch (error) {
      if (!(error instanceof CloudError) || !mayHaveApplied(error)) this.state.turn.end(vmid)
      throw error
    }
  }

  /** Takes a step. Of a creation, what may succeed later or may have been done is looked at again with the next poll. */
  async #take(step: Step, operation: ProxmoxOperation): Promise<Outcome> {
    const { vmid, order } = operation
    const inventory = await this.inventory()
    const guest = inventory.guests.find(one => one.vmid === vmid)
    try {
      if (step === 'clone') return guest ? await this.#cloned(guest, order!) : await this.clone(operation, inventory.guests)
      if (!guest) {
        if (step === 'delete') return 'done'
        throw new CloudError('not_found', `The guest ${vmid} no longer exists.`)
      }
      if (isBeingCloned(guest) && order) return 'wait'
      if (operation.mark !== undefined && !(await this.#isStill(guest, operation.mark))) return 'done'
      return await this.#takeOf(guest, step, operation)
    } catch (error) {
      if (!order || !(error instanceof CloudError)) throw error
      if (error.ambiguous !== true && error.failure !== 'locked' && error.failure !== 'already_exists') throw error
      return 'wait'
    }
  }

  /** Whether a guest is the one with a mark, rather than another one that uses its VMID again. */
  async #isStill(guest: Guest, mark: string | null): Promise<boolean> {
    return !isBeingCloned(guest) && parseNotes((await this.configOf(guest)).description ?? '', guest.vmid).mark === mark
  }

  async #takeOf(
    guest: Guest,
    step: Exclude<Step, 'clone'>,
    { order, size, steps, parameters, snapshot }: ProxmoxOperation,
  ): Promise<Outcome> {
    const { type, vmid } = guest
    const path = pathOf(guest)
    if (step === 'configure') {
      const config = await this.configOf(guest)
      if (!parseNotes(config.description ?? '', vmid).isUnfinished) return 'done'
      await this.configure(guest, this.#optionsOf(guest, config, order!, size!))
      return 'done'
    }
    if (step === 'size') {
      await this.configure(guest, sizeOptions(type, await this.configOf(guest), size!))
      return 'done'
    }
    if (step === 'grow') {
      const config = await this.configOf(guest)
      const disk = bootDiskOf(type, config)
      const before = diskBytesOf(config, disk)
      if (disk === null || before === null || before >= size!.diskBytes) return 'done'
      this.changed(vmid)
      const task = await this.client.change('PUT', `${path}/resize`, { disk, size: `${Math.ceil(size!.diskBytes / 2 ** 20)}M` })
      // Versions before 8 resize at once.
      return typeof task === 'string' && task.startsWith('UPID:') ? { task } : 'done'
    }
    if (step === 'snapshot' || step === 'rollback' || step === 'delsnapshot')
      return await this.#takeSnapshot(guest, step, snapshot!)
    this.changed(vmid)
    if (step === 'delete') return { task: await this.client.begin('DELETE', path, { purge: 1 }) }
    if (isDone[step]?.((await this.known.refresh(guest)).status)) return 'done'
    return { task: await this.client.begin('POST', `${path}/status/${step}`, step === steps[0] ? parameters : {}) }
  }

  async #takeSnapshot(
    guest: Guest,
    step: SnapshotStep,
    { name, description, includesMemory }: NonNullable<ProxmoxOperation['snapshot']>,
  ): Promise<Outcome> {
    const path = `${pathOf(guest)}/snapshot`
    const exists = (await this.snapshots(guest)).find(one => one.ref === `${guest.vmid}/${name}`)
    if (step === 'snapshot' && exists?.status === 'creating') return 'wait'
    if (exists ? step === 'snapshot' : step === 'delsnapshot') return 'done'
    if (!exists && step === 'rollback') throw new CloudError('not_found', 'The snapshot no longer exists.', null, false)
    this.changed(guest.vmid)
    if (step === 'delsnapshot') return { task: await this.client.begin('DELETE', `${path}/${encodeURIComponent(name)}`) }
    if (step === 'rollback') {
      const start = guest.status === 'stopped' ? undefined : 1
      return { task: await this.client.begin('POST', `${path}/${encodeURIComponent(name)}/rollback`, { start }) }
    }
    // Containers have no memory to save.
    const vmstate = guest.type === 'qemu' ? Number(includesMemory) : undefined
    return { task: await this.client.begin('POST', path, { snapname: name, description, vmstate }) }
  }

  /** The snapshots of a guest. */
  async snapshots(guest: Guest): Promise<CloudSnapshot[]> {
    return snapshotsOf(guest.vmid, await this.client.get(`${pathOf(guest)}/snapshot`))
  }

  /** Types of the storages of a node that the token can see, by their ids. */
  async storageTypes(node: string): Promise<Map<string, string>> {
    const rows = await this.client.get(`/nodes/${encodeURIComponent(node)}/storage`)
    if (!Array.isArray(rows)) throw new CloudError('invalid_response', 'The response of Proxmox has no storages.')
    return new Map(rows.filter(isObject).map(({ storage, type }) => [String(storage), String(type)]))
  }

  /** Changes options of a guest. */
  async configure(guest: Guest, options: Record<string, string | number>): Promise<void> {
    this.changed(guest.vmid)
    await this.client.change('PUT', `${pathOf(guest)}/config`, options)
    this.changed(guest.vmid)
  }

  /** A guest with the VMID of an order exists: whether it is its clone. */
  async #cloned(guest: Guest, { mark }: CreationOrder): Promise<Outcome> {
    if (isBeingCloned(guest)) return 'wait'
    const config = await this.configOf(guest).catch((error: unknown) => {
      if (error instanceof CloudError && error.failure === 'not_found') return null
      throw error
    })
    // Another guest that was deleted since it was listed, which frees its VMID.
    if (config === null) return 'wait'
    this.state.turn.end(guest.vmid)
    return parseNotes(config.description ?? '', guest.vmid).mark === mark ? 'done' : 'taken'
  }

  /** Options of a new guest. The last line of its description goes with them, so that they are set once. */
  #optionsOf({ type, vmid }: Guest, config: Config, order: CreationOrder, size: { cores: number; memoryBytes: number }) {
    const { bridge } = this.placement
    const bridges = order.networks.length > 0 ? order.networks : bridge === undefined ? [] : [bridge]
    return {
      ...sizeOptions(type, config, size),
      ...networkOptions(type, config, { ...order, bridges }),
      // Proxmox wants the keys URL-encoded within the form.
      ...(order.sshKeys.length > 0 && { sshkeys: encodeURIComponent(order.sshKeys.join('\n')) }),
      tags: ownTag,
      description: notesOf(order, vmid, false),
    }
  }

  /** How a task ended: `ok`, the error, or `gone` if Proxmox doesn't know it (any longer). */
  async #exitOf(task: string): Promise<string> {
    const path = `/nodes/${encodeURIComponent(nodeOfTask(task))}/tasks/${encodeURIComponent(task)}/status`
    try {
      const data = await this.client.get(path, {}, taskLimits)
      const { status, exitstatus } = isObject(data) ? data : {}
      if (status === 'running') return 'running'
      if (status !== 'stopped') throw new CloudError('invalid_response', 'The response of Proxmox has no status of a task.')
      // A node that went down in the middle leaves tasks without an exit status.
      if (typeof exitstatus !== 'string' || exitstatus === 'unexpected status') return 'gone'
      return /^(?:OK$|WARNINGS)/.test(exitstatus) ? 'ok' : exitstatus
    } catch (error) {
      if (error instanceof CloudError && error.failure === 'invalid' && /no such task/.test(error.message)) return 'gone'
      throw error
    }
  }
}

/** Statuses in which there is nothing left to do. Restarts are always carried out. */
const isDone: Partial<Record<StatusStep, (status: string) => boolean>> = {
  start: status => status !== 'stopped',
  stop: status => status === 'stopped',
  shutdown: status => status === 'stopped',
  suspend: status => status === 'paused',
  resume: status => status !== 'paused',
}

const taskLimits = { totalMs: 15_000, maxBodyBytes: 64 * 1024 }
