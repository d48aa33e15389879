import {
  CloudError,
  type CloudStatus,
  type Operation,
  type Polled,
  type ServerCommand,
  type ServerOrder,
  type Started,
} from '../cloud'
import { isLabeled } from '../label-change'
import { OperationFailed, type Accepted, type IncusClient } from './client'
import { pathOf, snapshotNameOf, snapshotPath, type Instances } from './instances'
import { creationOf, freeSize, imageNamed, invalid, refuseInvalidName, resizedRoot, userDataKey } from './orders'
import {
  bytesOf,
  imageKey,
  imageValue,
  instanceOf,
  labelConfig,
  markKey,
  protectionKey,
  refOf,
  rootDisk,
  serverOf,
  sizeText,
  type Instance,
} from './readings'
import type { IncusSettings } from './settings'

/** An operation at the server and what follows. */
type Running = {
  id: string
  /** Of the instance. */
  name: string
  /** Step at its end. `force`: only if the operation fails. */
  next?: 'start' | 'delete' | 'force'
  /** Status that the operation leads to: an operation that failed because of it has nothing left to do. */
  wanted?: CloudStatus
  /** Mark of the server that is being created. */
  mark?: string
  /** When the instance was started before a restart, which changes that. */
  startedAt?: string
}

/** How long a guest may take to restart, in seconds. */
const rebootSeconds = 120

/** Commands for instances. */
export class IncusCommands {
  constructor(
    private readonly client: IncusClient,
    private readonly instances: Instances,
    private readonly settings: IncusSettings,
  ) {}

  async start(ref: string | null, command: ServerCommand): Promise<Started> {
    if (command.verb === 'provision') return await this.#create(command.order)
    const instance = ref === null ? null : await this.instances.byRef(ref)
    if (instance) return await this.#run(instance, command)
    if (command.verb === 'delete') return unchanged
    throw new CloudError('not_found', 'The server doesn’t exist.', null, false)
  }

  /** Starts a server that was created. */
  async continueProvision(ref: string, order: ServerOrder): Promise<Started> {
    const instance = await this.instances.byRef(ref)
    if (!instance) throw new CloudError('not_found', 'The server doesn’t exist.', null, false)
    const creating = await this.#creating(order)
    if (creating) return creating
    if (!order.start || serverOf(instance).status !== 'off') return { state: 'done', ref: refOf(instance) }
    return await this.#state(instance.name, { action: 'start' }, { wanted: 'running', mark: order.mark })
  }

  /** Looks how far an operation is, and takes the next step at its end. */
  async poll(operation: Operation): Promise<Polled> {
    const running = operation as Running
    const found = await this.client.operation(running.id)
    switch (found.state) {
      case 'running':
        return {
          state: 'running',
          operation,
          ...(found.progress !== null && { progress: found.progress }),
          ...(found.detail !== null && { detail: found.detail }),
        }
      case 'failed':
        return await this.#failed(running, found.error)
      case 'gone':
        return running.next === 'start' || running.next === 'delete' || (await this.#isRestarted(running))
          ? await this.#succeeded(running)
          : { state: 'gone' }
      case 'done':
        return await this.#succeeded(running)
    }
  }

  async #create(order: ServerOrder): Promise<Started> {
    const creating = await this.#creating(order)
    if (creating) return creating
    const creation = await creationOf(order, this.settings, this.client)
    const target = order.location === null ? '' : `?target=${encodeURIComponent(order.location)}`
    // Not all versions can start an instance that they create.
    return await this.send('POST', `/instances${target}`, creation, creationRest(order))
  }

  /**
   * The creation that was accepted before, if it has not ended. A busy server adds an instance long after it accepted the request, and
   * can't start it until the creation has ended. If a second request were sent, it could end first, and the first one would create the
   * instance again after it was deleted.
   */
  async #creating(order: ServerOrder): Promise<Started | null> {
    const [id] = await this.client.creationsOf(order.name)
    return id === undefined ? null : { state: 'running', operation: { id, ...creationRest(order) } }
  }

  async #run(instance: Instance, command: Exclude<ServerCommand, { verb: 'provision' }>): Promise<Started> {
    const { name } = instance
    const { status } = serverOf(instance)
    const refuseOff = () => {
      if (status === 'off') throw invalid('The server is off.')
    }
    switch (command.verb) {
      case 'power_on':
        if (status === 'running' || status === 'suspended') return unchanged
        return await this.#state(name, { action: 'start' }, { wanted: 'running' })
      case 'power_off':
        if (status === 'off') return unchanged
        return await this.#state(name, { action: 'stop', force: true }, { wanted: 'off' })
      case 'shutdown':
        if (status === 'off') return unchanged
        return await this.#state(
          name,
          { action: 'stop', timeout: command.timeoutSeconds },
          { wanted: 'off', ...(command.thenForce && { next: 'force' }) },
        )
      case 'reboot':
        refuseOff()
        return await this.#state(name, { action: 'restart', timeout: rebootSeconds }, { startedAt: instance.startedAt })
      case 'power_cycle':
        refuseOff()
        return await this.#state(name, { action: 'restart', force: true }, { startedAt: instance.startedAt })
      case 'suspend':
        refuseOff()
        if (status === 'suspended') return unchanged
        return await this.#state(name, { action: 'freeze' }, { wanted: 'suspended' })
      case 'resume':
        refuseOff()
        if (status === 'running') return unchanged
        return await this.#state(name, { action: 'unfreeze' }, { wanted: 'running' })
      case 'rename':
        return await this.#rename(instance, command.name)
      case 'resize':
        return await this.#resize(instance, command)
      case 'rebuild':
        if (status !== 'off') throw invalid('The server must be off to be rebuilt.')
        return await this.#rebuild(name, command)
      case 'set_labels':
        if (isLabeled(serverOf(instance).labels, command.labels)) return unchanged
        return await this.#configure(name, labelConfig(command.labels))
      case 'set_protection':
        if (serverOf(instance).protection.delete === command.protection.delete) return unchanged
        return await this.#configure(name, { [protectionKey]: String(command.protection.delete) })
      case 'snapshot': {
        const { mark, includesMemory } = command.order
        if (await this.client.find(snapshotPath(name, mark))) return unchanged
        const snapshot = { name: mark, stateful: includesMemory }
        return await this.send('POST', `${pathOf(name)}/snapshots`, snapshot, { name })
      }
      case 'restore_snapshot':
        return await this.send('PUT', pathOf(name), { restore: snapshotNameOf(command.snapshotRef) }, { name })
      case 'delete':
        if (serverOf(instance).protection.delete)
          throw new CloudError('protected', 'The server is protected from being deleted.', null, false)
        if (status === 'off') return await this.#delete(name)
        return await this.#state(name, { action: 'stop', force: true }, { wanted: 'off', next: 'delete' })
      default:
        throw invalid(`Incus and LXD don’t support ${command.verb}.`)
    }
  }

  async #rename(instance: Instance, name: string): Promise<Started> {
    if (instance.name === name) return unchanged
    refuseInvalidName(name)
    const renamed = await this.send('POST', pathOf(instance.name), { name }, { name })
    return { ...renamed, ref: refOf({ ...instance, name }) }
  }

  /** All devices are replaced, unless they were changed since they were read. */
  async #resize(instance: Instance, { size, upgradeDisk }: ServerCommand & { verb: 'resize' }): Promise<Started> {
    const { cores, memoryBytes, diskBytes } = freeSize(size)
    const { resources } = serverOf(instance)
    const config = {
      ...(resources.cores !== cores && { 'limits.cpu': String(cores) }),
      ...(resources.memoryBytes !== memoryBytes && { 'limits.memory': sizeText(memoryBytes) }),
    }
    const current = bytesOf(rootDisk(instance.expandedDevices)?.[1].size)
    const disk = upgradeDisk && current !== diskBytes ? await resizedRoot(instance, diskBytes, this.client) : {}
    const changesDisk = Object.keys(disk).length > 0
    if (changesDisk && current !== null && diskBytes < current)
      throw invalid(`The disk can’t be shrunk from ${sizeText(current)} to ${sizeText(diskBytes)}.`)
    if (!changesDisk && Object.keys(config).length === 0) return unchanged
    const { name } = instance
    const change = (current: Instance) => ({ config, ...(changesDisk && { devices: { ...current.devices, ...disk } }) })
    return await this.update('PATCH', instance, row => change(instanceOf(row)), { name })
  }

  async #rebuild(name: string, { image, userData }: ServerCommand & { verb: 'rebuild' }): Promise<Started> {
    const { fingerprint } = await imageNamed(image, this.client)
    await this.#configure(name, {
      [imageKey]: imageValue(fingerprint, image),
      ...(userData !== null && { [userDataKey]: userData }),
    })
    return await this.send('POST', `${pathOf(name)}/rebuild`, { source: { type: 'image', fingerprint } }, { name })
  }

  async #configure(name: string, config: Record<string, string>): Promise<Started> {
    return await this.#patch(name, { config })
  }

  async #patch(name: string, changes: object): Promise<Started> {
    return await this.send('PATCH', pathOf(name), changes, { name })
  }

  async #state(name: string, change: object, more: Omit<Running, 'id' | 'name'> = {}): Promise<Started> {
    return await this.send('PUT', `${pathOf(name)}/state`, change, { name, ...more })
  }

  async #delete(name: string): Promise<Started> {
    try {
      return await this.send('DELETE', pathOf(name), undefined, { name })
    } catch (error) {
      if (error instanceof CloudError && error.failure === 'not_found') return { state: 'done' }
      throw error
    }
  }

  /**
   * Sends a change and waits a moment: most operations end within a second, and errors are forgotten soon.
   * @param rest `name`: of the instance
   * @param totalMs how long the request may take, in milliseconds; undefined for the default
   */
  async send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body: object | undefined,
    rest: Omit<Running, 'id'>,
    totalMs?: number,
  ): Promise<Started> {
    return await this.#begun(await this.client.send(method, path, body, totalMs), rest)
  }

  /** Like {@link send}, for a change of an instance that depends on what it is. @param bodyOf the request for what was read */
  async update(
    method: 'PUT' | 'PATCH',
    { name }: Pick<Instance, 'name'>,
    bodyOf: (current: Record<string, unknown>) => object,
    rest: Omit<Running, 'id'>,
  ): Promise<Started> {
    const accepted = await this.client.update(method, pathOf(name), current => {
      if (!current) throw new CloudError('not_found', 'The server doesn’t exist.', null, false)
      return bodyOf(current)
    })
    return await this.#begun(accepted!, rest)
  }

  async #begun({ operation: id }: Accepted, rest: Omit<Running, 'id'>): Promise<Started> {
    if (id === null) return { state: 'done' }
    const running: Running = { id, ...rest }
    try {
      const polled = await this.poll(running)
      return polled.state === 'gone' ? { state: 'running', operation: running } : polled
    } catch (error) {
      if (!(error instanceof CloudError) || error instanceof OperationFailed) throw error
      // The operation has started, whatever the connection does now.
      return { state: 'running', operation: running }
    }
  }

  async #isRestarted({ name, startedAt }: Running): Promise<boolean> {
    if (startedAt === undefined) return false
    const instance = await this.instances.byName(name)
    return instance !== null && instance.startedAt !== startedAt && serverOf(instance).status === 'running'
  }

  async #succeeded({ name, next, mark }: Running): Promise<Polled> {
    if (next === 'delete') return polledOf(await this.#delete(name))
    if (mark === undefined) return { state: 'done' }
    const instance = await this.instances.byName(name)
    if (!instance) return { state: 'gone' }
    if (instance.config[markKey] !== mark)
      throw new OperationFailed('already_exists', `Another server is named ${name}.`, null, false)
    const ref = refOf(instance)
    if (next !== 'start' || serverOf(instance).status !== 'off') return { state: 'done', ref }
    return polledOf({ ...(await this.#state(name, { action: 'start' }, { wanted: 'running', mark })), ref })
  }

  async #failed(running: Running, error: OperationFailed): Promise<Polled> {
    const { name, next, wanted } = running
    if (wanted !== undefined) {
      const instance = await this.instances.byName(name)
      if (instance && serverOf(instance).status === wanted) return await this.#succeeded(running)
      if (!instance && next === 'delete') return { state: 'done' }
    }
    if (next !== 'force') throw error
    return polledOf(await this.#state(name, { action: 'stop', force: true }, { wanted: 'off' }))
  }
}

/** What is known of a creation in addition to its operation. */
const creationRest = ({ name, mark, start }: ServerOrder) => ({ name, mark, ...(start && { next: 'start' as const }) })

const unchanged: Started = { state: 'done', unchanged: true }

const polledOf = (started: Started): Polled => {
  const { ref } = started
  const known = ref === undefined ? {} : { ref }
  return started.state === 'done' ? { state: 'done', ...known } : { state: 'running', operation: started.operation, ...known }
}
