import { CloudError, type ServerCommand, type ServerOrder, type ServerVerb, type SizeOrder, type Started } from '../cloud'
import { isLabeled, labelsAfter } from '../label-change'
import type { ProxmoxClient } from './client'
import { bootDiskOf, diskBytesOf, hasCloudInit, type GuestType } from './config'
import { pathOf, type Guest } from './guests'
import type { KnownGuests } from './known-guests'
import { isObject } from '../../../../dns/octets'
import { parseNotes, relabeled } from './notes'
import type { ProxmoxOperation, SnapshotStep, StatusStep, Step } from './operation'
import { snapshotNameOf } from './snapshot-list'
import type { Steps } from './steps'

type CommandOf<V extends ServerVerb> = Extract<ServerCommand, { verb: V }>

/** Starts commands. */
export class Commands {
  constructor(
    private readonly client: ProxmoxClient,
    private readonly steps: Steps,
    private readonly known: KnownGuests,
    private readonly tokenId: string,
  ) {}

  async provision(order: ServerOrder): Promise<Started> {
    const { guests } = await this.steps.inventory()
    const vmid = Number(order.ref)
    const template = guests.find(one => one.template && String(one.vmid) === order.image)
    if (!template) throw new CloudError('not_found', `Proxmox has no template with the VMID ${order.image}.`)
    if (guests.some(one => one.vmid === vmid)) throw new CloudError('already_exists', `The VMID ${vmid} is taken.`)
    refuseTakenName(guests, order.name)
    await this.#refuseTemplate(template, order)
    const operation = creationOf(order)
    const outcome = await this.#lockedLater(() => this.steps.clone(operation, guests))
    const task = typeof outcome === 'string' ? null : outcome.task
    return { state: 'running', operation: { ...operation, task }, ref: String(vmid) }
  }

  /** Continues with whatever is left to do. */
  async continueProvision(order: ServerOrder): Promise<Started> {
    return started(await this.steps.advance(creationOf(order)))
  }

  async run(ref: string, command: Exclude<ServerCommand, { verb: 'provision' }>): Promise<Started> {
    const { guests } = await this.steps.inventory()
    const listed = guests.find(one => String(one.vmid) === ref && !one.template)
    if (!listed) {
      if (command.verb === 'delete') return unchanged
      throw new CloudError('not_found', `Proxmox has no guest with the VMID ${ref}.`)
    }
    const guest = await this.known.refresh(listed)
    const isOff = guest.status === 'stopped'
    const isSuspended = guest.status === 'paused'
    switch (command.verb) {
      case 'power_on':
        if (!isOff && !isSuspended) return unchanged
        return await this.#status(guest, [isOff ? 'start' : 'resume'])
      case 'power_off':
        return isOff ? unchanged : await this.#status(guest, ['stop'])
      case 'shutdown': {
        const { timeoutSeconds, thenForce } = command
        const parameters = { timeout: timeoutSeconds, forceStop: Number(thenForce) }
        return isOff ? unchanged : await this.#status(guest, ['shutdown'], parameters)
      }
      case 'reboot':
        return await this.#status(guest, ['reboot'])
      case 'power_cycle':
        // Containers have no reset.
        return await this.#status(guest, guest.type === 'qemu' ? ['reset'] : ['stop', 'start'])
      case 'suspend':
        refuseContainer(guest)
        return isSuspended ? unchanged : await this.#status(guest, ['suspend'])
      case 'resume':
        refuseContainer(guest)
        if (isOff) throw new CloudError('refused', 'The server is off, not suspended.', null, false)
        return isSuspended ? await this.#status(guest, ['resume']) : unchanged
      case 'rename':
        return await this.#rename(guest, guests, command)
      case 'resize':
        return await this.#resize(guest, command)
      case 'set_protection':
        return await this.#protect(guest, command)
      case 'set_labels':
        return await this.#label(guest, command)
      case 'snapshot': {
        const { mark: name, name: description, includesMemory } = command.order
        return await this.#snapshot(guest, 'snapshot', { name, description, includesMemory: includesMemory && !isOff })
      }
      case 'restore_snapshot':
        return await this.#snapshot(guest, 'rollback', { name: snapshotNameOf(command.snapshotRef) })
      case 'delete':
        return await this.#delete(guest, isOff)
      default:
        throw new CloudError('refused', `Proxmox can't ${command.verb.replaceAll('_', ' ')} servers.`, null, false)
    }
  }

  /** Finds the task of a command among those that our token started. */
  async findOperation(ref: string, verb: ServerVerb, since: number): Promise<ProxmoxOperation | null> {
    const { guests } = await this.steps.inventory()
    const guest = guests.find(one => String(one.vmid) === ref)
    const steps = guest && stepsOf(verb, guest)
    if (!guest || !steps) return null
    const query = { vmid: guest.vmid, typefilter: taskType(guest.type, steps[0]!), source: 'all', limit: 100 }
    const { data, aheadMs } = await this.client.getDated(`/nodes/${encodeURIComponent(guest.node)}/tasks`, query)
    if (!Array.isArray(data)) throw new CloudError('invalid_response', 'The response of Proxmox has no tasks.')
    // Start times are in seconds, and of the clock of the node.
    const earliest = Math.floor((since + aheadMs) / 1000) - 1
    const task = data
      .filter(isObject)
      .filter(one => typeof one.upid === 'string' && one.upid.endsWith(`:${this.tokenId}:`) && Number(one.starttime) >= earliest)
      .sort((one, other) => Number(other.starttime) - Number(one.starttime))[0]
    return task ? { vmid: guest.vmid, steps, task: String(task.upid) } : null
  }

  /** Starts the first of the tasks that change the status of a guest. */
  async #status(guest: Guest, steps: StatusStep[], parameters: Record<string, number> = {}): Promise<Started> {
    this.steps.changed(guest.vmid)
    const task = await this.client.begin('POST', `${pathOf(guest)}/status/${steps[0]}`, parameters)
    const operation: ProxmoxOperation = { vmid: guest.vmid, steps, task, parameters }
    return { state: 'running', operation: { ...operation } }
  }

  async #rename(guest: Guest, guests: readonly Guest[], { name }: CommandOf<'rename'>): Promise<Started> {
    if (guest.name === name) return unchanged
    refuseTakenName(guests, name)
    await this.steps.configure(guest, { [guest.type === 'qemu' ? 'name' : 'hostname']: name })
    return { state: 'done' }
  }

  async #resize(guest: Guest, { size, upgradeDisk }: CommandOf<'resize'>): Promise<Started> {
    const config = await this.steps.configOf(guest)
    const { cores, memoryBytes, diskBytes } = freeSize(size)
    const disk = bootDiskOf(guest.type, config)
    const before = diskBytesOf(config, disk) ?? guest.diskBytes ?? 0
    const grows = upgradeDisk && diskBytes > before
    if (upgradeDisk && diskBytes < before)
      throw new CloudError('invalid', `The disk has ${gib(before)} GiB, and disks can't be made smaller.`, null, false)
    if (guest.cores === cores && guest.memoryBytes === memoryBytes && !grows) return unchanged
    if (guest.status !== 'stopped') throw new CloudError('refused', 'The server must be off to be resized.', null, false)
    const steps: Step[] = ['size', ...(grows ? (['grow'] as const) : [])]
    return started(await this.steps.advance({ vmid: guest.vmid, steps, task: null, size: { cores, memoryBytes, diskBytes } }))
  }

  async #protect(guest: Guest, { protection }: CommandOf<'set_protection'>): Promise<Started> {
    const { protection: now = '0' } = await this.steps.configOf(guest)
    if ((now === '1') === protection.delete) return unchanged
    await this.steps.configure(guest, { protection: Number(protection.delete) })
    return { state: 'done' }
  }

  /** Labels are in the description. Those that are tags of people can only be removed. */
  async #label(guest: Guest, { labels: change }: CommandOf<'set_labels'>): Promise<Started> {
    const { description = '' } = await this.steps.configOf(guest)
    const { mark, labels } = parseNotes(description, guest.vmid)
    if (mark === null)
      throw new CloudError(
        'refused',
        'The notes of the guest no longer begin with the line that Bailiwick wrote, so that its labels can’t be stored there.',
        null,
        false,
      )
    const tags = guest.tags.filter(one => !change.remove.includes(one))
    if (isLabeled(labels, change) && tags.length === guest.tags.length) return unchanged
    await this.steps.configure(guest, {
      description: relabeled(description, labelsAfter(labels, change)),
      ...(tags.length < guest.tags.length && { tags: tags.join(';') }),
    })
    return { state: 'done' }
  }

  async #delete(guest: Guest, isOff: boolean): Promise<Started> {
    // Before it is stopped: Proxmox would only refuse to delete it.
    const { protection, description = '' } = await this.steps.configOf(guest)
    if (protection === '1') throw new CloudError('protected', 'The server is protected from being deleted.', null, false)
    const steps: Step[] = [...(isOff ? [] : (['stop'] as const)), 'delete']
    const { mark } = parseNotes(description, guest.vmid)
    return started(await this.steps.advance({ vmid: guest.vmid, steps, task: null, mark }))
  }

  async deleteSnapshot(ref: string, name: string): Promise<Started> {
    const guest = (await this.steps.inventory()).guests.find(one => String(one.vmid) === ref && !one.template)
    return guest ? await this.#snapshot(guest, 'delsnapshot', { name }) : unchanged
  }

  async #snapshot(
    { vmid }: Guest,
    step: SnapshotStep,
    { name, description = name, includesMemory = false }: { name: string; description?: string; includesMemory?: boolean },
  ): Promise<Started> {
    const outcome = started(
      await this.steps.advance({ vmid, steps: [step], task: null, snapshot: { name, description, includesMemory } }),
    )
    return outcome.state === 'done' ? unchanged : outcome
  }

  /** Refuses what a clone of a template would ignore. */
  async #refuseTemplate(template: Guest, { sshKeys, size }: ServerOrder): Promise<void> {
    const refuse = (detail: string) => {
      throw new CloudError('invalid', detail, null, false)
    }
    const config = await this.steps.configOf(template)
    const shown = template.name ?? String(template.vmid)
    if (sshKeys.length > 0 && template.type === 'lxc')
      refuse('SSH keys can’t be added to containers that are cloned from a template.')
    if (sshKeys.length > 0 && template.type === 'qemu' && !hasCloudInit(config))
      refuse(`The template ${shown} has no cloud-init drive, so that SSH keys can’t be added.`)
    const disk = diskBytesOf(config, bootDiskOf(template.type, config))
    if (disk !== null && freeSize(size).diskBytes < disk)
      refuse(`The disk must have at least ${gib(disk)} GiB, as the template ${shown} has.`)
  }

  /** A clone that waits for a lock is started by a poll. */
  async #lockedLater<T>(clone: () => Promise<T>): Promise<T | 'wait'> {
    try {
      return await clone()
    } catch (error) {
      if (error instanceof CloudError && error.failure === 'locked') return 'wait'
      throw error
    }
  }
}

function creationOf({ ref, size, start, sshKeys, ...order }: ServerOrder): ProxmoxOperation {
  const { mark, name, image, location, labels, networks, enableIpv4, enableIpv6 } = order
  return {
    vmid: Number(ref),
    steps: ['clone', 'grow', 'configure', ...(start ? (['start'] as const) : [])],
    task: null,
    size: freeSize(size),
    order: {
      mark,
      name,
      image,
      location,
      labels,
      networks,
      enableIpv4,
      enableIpv6,
      sshKeys: sshKeys.map(one => one.publicKey.trim()),
    },
  }
}

function freeSize(size: SizeOrder): Exclude<SizeOrder, { slug: string }> {
  if ('slug' in size) throw new CloudError('invalid', 'Sizes on Proxmox are cores, memory, and disk.', null, false)
  return size
}

/** Proxmox allows guests with the same name, which nobody can tell apart. */
function refuseTakenName(guests: readonly Guest[], name: string): void {
  const taken = guests.find(one => one.name === name)
  if (taken) throw new CloudError('already_exists', `The guest ${taken.vmid} has the name ${name}.`, null, false)
}

function refuseContainer({ type }: Guest): void {
  if (type === 'lxc') throw new CloudError('refused', 'Proxmox can suspend only virtual machines, not containers.', null, false)
}

const started = (polled: Awaited<ReturnType<Steps['advance']>>): Started => {
  if (polled.state === 'gone') throw new CloudError('not_found', 'The guest no longer exists.')
  return polled
}

const unchanged: Started = { state: 'done', unchanged: true }
const gib = (bytes: number) => Number((bytes / 2 ** 30).toFixed(1))

/** The steps of verbs with tasks. Those that power a server on resume it if it is suspended. */
function stepsOf(verb: ServerVerb, { type, status }: Guest): Step[] | null {
  if (verb === 'power_cycle') return type === 'qemu' ? ['reset'] : ['stop', 'start']
  if (verb === 'power_on') return [status === 'paused' ? 'resume' : 'start']
  if (verb === 'power_off') return ['stop']
  if (verb === 'restore_snapshot') return ['rollback']
  return verb === 'shutdown' || verb === 'reboot' || verb === 'suspend' || verb === 'resume' || verb === 'delete' ? [verb] : null
}

/** The type of the task of a step, such as `qmstart`. */
const taskType = (type: GuestType, step: Step) =>
  `${type === 'qemu' ? 'qm' : 'vz'}${step === 'delete' ? 'destroy' : step === 'suspend' && type === 'qemu' ? 'pause' : step}`
