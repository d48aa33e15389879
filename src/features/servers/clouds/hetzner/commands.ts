import type { AdapterContext } from '../../../../adapters/context'
import { isObject } from '../../../../dns/octets'
import { HetznerError, type HetznerAction, type HetznerApi } from '../../../../vendors/hetzner'
import { markLabel } from '../../labels'
import {
  CloudError,
  type CloudServer,
  type Operation,
  type Polled,
  type ServerCommand,
  type ServerOrder,
  type ServerVerb,
  type Started,
} from '../cloud'
import { isLabeled, labelsAfter } from '../label-change'
import { actionsOf, startedBy, stored, type HetznerOperation, type NextStep } from './operation'
import { gibibyte, serverOf } from './readings'
import type { HetznerFirewalls } from './firewalls'
import type { HetznerSnapshots } from './snapshots'
import { addSshKeys, readSshKeys } from './ssh-keys'

/** Commands by the action that they start. */
const actionCommands: Partial<Record<ServerVerb, string>> = {
  provision: 'create_server',
  power_on: 'start_server',
  power_off: 'stop_server',
  shutdown: 'shutdown_server',
  reboot: 'reboot_server',
  power_cycle: 'reset_server',
  resize: 'change_server_type',
  rebuild: 'rebuild_server',
  set_protection: 'change_protection',
  enable_rescue: 'enable_rescue',
  disable_rescue: 'disable_rescue',
  enable_backups: 'enable_backup',
  disable_backups: 'disable_backup',
  delete: 'delete_server',
  snapshot: 'create_image',
  restore_snapshot: 'rebuild_server',
}

/** What the creation of a server starts. */
const creationCommands: ReadonlySet<string> = new Set(['create_server', 'start_server', 'attach_to_network'])

// The API reports times to the second, and its clock can differ a little.
const toleranceMs = 2000
const actionsPerPage = 50

/** Starts commands and follows the actions that they become. */
export class HetznerCommands {
  constructor(
    private readonly api: HetznerApi,
    private readonly around: AdapterContext,
    private readonly snapshots: HetznerSnapshots,
    private readonly firewalls: HetznerFirewalls,
  ) {}

  /** The server as in the API; null if it doesn’t exist. */
  async row(ref: string): Promise<Record<string, unknown> | null> {
    if (!/^\d{1,16}$/.test(ref)) return null
    try {
      const { server } = await this.api.get(`/servers/${ref}`)
      if (!isObject(server)) throw new CloudError('invalid_response', 'The response of Hetzner has no server.')
      return server
    } catch (error) {
      if (error instanceof HetznerError && error.failure === 'not_found') return null
      throw error
    }
  }

  async start(ref: string | null, command: ServerCommand): Promise<Started> {
    if (command.verb === 'provision') return await this.#provision(command.order)
    const row = await this.row(ref!)
    if (!row) {
      if (command.verb === 'delete') return unchanged
      throw new CloudError('not_found', 'The server does not exist at Hetzner.', null, false)
    }
    const server = serverOf(row)
    const act = (action: string, body?: object, next: NextStep | null = null): Promise<Started> =>
      this.#act(server.ref, action, body, next)
    switch (command.verb) {
      case 'power_on':
        return server.status === 'running' ? unchanged : await act('poweron')
      case 'power_off':
        return server.status === 'off' ? unchanged : await act('poweroff')
      case 'shutdown': {
        const until = this.around.clock.now() + command.timeoutSeconds * 1000
        return server.status === 'off'
          ? unchanged
          : await act('shutdown', undefined, { step: 'off', until, thenForce: command.thenForce })
      }
      case 'reboot':
        return await act('reboot')
      case 'power_cycle':
        return await act('reset')
      case 'rename':
        if (server.name === command.name) return unchanged
        await this.api.send('PUT', `/servers/${server.ref}`, { name: command.name })
        return { state: 'done' }
      case 'resize':
        return isSize(row, server, command)
          ? unchanged
          : await act('change_type', { server_type: slugOf(command.size), upgrade_disk: command.upgradeDisk })
      case 'rebuild':
        return await act('rebuild', { image: command.image, ...(command.userData !== null && { user_data: command.userData }) })
      case 'set_labels':
        if (isLabeled(server.labels, command.labels) && server.mark === command.mark) return unchanged
        // All labels are replaced, also the mark.
        const labels = { ...labelsAfter(server.labels, command.labels), [markLabel]: command.mark }
        await this.api.send('PUT', `/servers/${server.ref}`, { labels })
        return { state: 'done' }
      case 'set_protection': {
        const { protection } = command
        if (protection.delete === server.protection.delete && protection.rebuild === server.protection.rebuild) return unchanged
        if (protection.delete !== protection.rebuild)
          throw new CloudError(
            'invalid',
            'Hetzner protects a server from both deletion and rebuild. Set both to the same value.',
            null,
            false,
          )
        return await act('change_protection', protection)
      }
      case 'enable_backups':
        return server.backups ? unchanged : await act('enable_backup')
      case 'disable_backups':
        return server.backups ? await act('disable_backup') : unchanged
      case 'enable_rescue':
        if (row.rescue_enabled === true) return unchanged
        return await act('enable_rescue', { type: 'linux64', ssh_keys: await readSshKeys(this.api, this.around.clock) })
      case 'disable_rescue':
        return row.rescue_enabled === true ? await act('disable_rescue') : unchanged
      case 'snapshot': {
        const { order } = command
        if (await this.snapshots.find(order)) return unchanged
        const labels = { ...order.labels, [markLabel]: order.mark }
        return await act('create_image', { type: 'snapshot', description: order.name, labels })
      }
      case 'restore_snapshot':
        return await act('rebuild', { image: command.snapshotRef })
      case 'delete':
        return await this.#delete(server.ref)
      default:
        throw new CloudError('refused', `Hetzner does not support ${command.verb}.`, null, false)
    }
  }

  /** Follows the creation of a server, whatever of it is left to do. */
  async continueProvision(ref: string, order: ServerOrder): Promise<Started> {
    const { actions } = await this.api.get(`/servers/${ref}/actions?sort=id:asc&per_page=${actionsPerPage}`)
    const left = actionsOf(actions).filter(one => one.status === 'running' || (one.error && creationCommands.has(one.command)))
    const next: NextStep | null = order.backups ? { step: 'enable_backups' } : null
    return await this.#followed({ ref, actions: left.map(one => one.id), next })
  }

  async poll(stored: Operation): Promise<Polled> {
    // Only operations that this adapter started are polled.
    const operation = stored as unknown as HetznerOperation
    const actions = await this.#actions(operation.actions)
    const uncreated = actions.find(one => one.error && one.command === actionCommands.provision)
    if (uncreated) return await this.#discard(operation, uncreated)
    const failed = actions.find(one => one.error)
    if (failed) throw this.api.failed(failed)
    if (actions.some(one => one.status === 'running')) {
      const progress = Math.floor(actions.reduce((sum, one) => sum + one.progress, 0) / actions.length)
      return { state: 'running', operation: stored, progress }
    }
    if (actions.length < operation.actions.length && !operation.next) return { state: 'gone' }
    return await this.#step({ ...operation, actions: [] })
  }

  async find(ref: string, verb: ServerVerb, since: number): Promise<Operation | null> {
    const command = actionCommands[verb]
    if (command === undefined) return null
    try {
      const { actions } = await this.api.get(`/servers/${ref}/actions?sort=started:desc&per_page=${actionsPerPage}`)
      const found = actionsOf(actions).find(one => one.command === command && one.startedAt >= since - toleranceMs)
      return found ? stored({ ref, actions: [found.id], next: null }) : null
    } catch (error) {
      if (error instanceof HetznerError && error.failure === 'not_found') return null
      throw error
    }
  }

  async #provision(order: ServerOrder): Promise<Started> {
    if (order.sshKeys.length === 0)
      throw new CloudError('invalid', 'Hetzner requires an SSH key. Without one, it would e-mail a root password.', null, false)
    const {
      name,
      location,
      image,
      labels,
      mark,
      networks,
      volumes = [],
      userData,
      enableIpv4,
      enableIpv6,
      backups,
      start,
    } = order
    const sshKeys = await addSshKeys(this.api, order.sshKeys)
    const firewalls = await this.firewalls.idsFor(order.firewalls ?? [])
    const response = await this.api.send('POST', '/servers', {
      name,
      server_type: slugOf(order.size),
      image,
      ...(location !== null && { location }),
      labels: { ...labels, [markLabel]: mark },
      ssh_keys: sshKeys.map(String),
      ...(networks.length > 0 && { networks: networks.map(Number) }),
      ...(volumes.length > 0 && { volumes: volumes.map(Number), automount: false }),
      ...(userData !== null && { user_data: userData }),
      public_net: { enable_ipv4: enableIpv4, enable_ipv6: enableIpv6 },
      ...(firewalls.length > 0 && { firewalls: firewalls.map(firewall => ({ firewall })) }),
      start_after_create: start,
    })
    const { ref } = serverOf(response.server)
    const next: NextStep | null = backups ? { step: 'enable_backups' } : null
    return { ...(await this.#followed({ ref, actions: startedBy(response), next })), ref }
  }

  async #delete(ref: string): Promise<Started> {
    try {
      return await this.#followed({ ref, actions: startedBy(await this.api.send('DELETE', `/servers/${ref}`)), next: null })
    } catch (error) {
      if (error instanceof HetznerError && error.failure === 'not_found') return unchanged
      throw error
    }
  }

  /** Deletes a server that could not be created completely, so that its name is free and it costs nothing. The operation then fails. */
  async #discard(operation: HetznerOperation, failed: HetznerAction): Promise<Polled> {
    const { ref } = operation
    const row = await this.row(ref)
    if (!row || serverOf(row).mark === null) throw this.api.failed(failed)
    try {
      const deletion = await this.#delete(ref)
      if (deletion.state === 'done') throw this.api.failed(failed)
      return { state: 'running', operation: { ...deletion.operation, next: { step: 'fail', error: failed.error } } }
    } catch (error) {
      if (!(error instanceof HetznerError) || error.code !== 'locked') throw error
      return { state: 'running', operation: stored(operation) }
    }
  }

  async #act(ref: string, action: string, body: object | undefined, next: NextStep | null): Promise<Started> {
    const response = await this.api.send('POST', `/servers/${ref}/actions/${action}`, body)
    return await this.#followed({ ref, actions: startedBy(response), next })
  }

  /** What a command started, unless there is nothing to wait for. */
  async #followed(operation: HetznerOperation): Promise<Started> {
    if (operation.actions.length > 0) return { state: 'running', operation: stored(operation) }
    const polled = await this.#step(operation)
    return polled.state === 'running' ? { state: 'running', operation: polled.operation } : { state: 'done' }
  }

  /** Takes the next step of an operation whose actions are finished. */
  async #step(operation: HetznerOperation): Promise<Exclude<Polled, { state: 'gone' }>> {
    const { ref, next } = operation
    if (!next) return { state: 'done' }
    if (next.step === 'fail') throw this.api.failed(next)
    const row = await this.row(ref)
    if (!row) throw new CloudError('not_found', 'The server no longer exists at Hetzner.', null, false)
    const { status, backups } = serverOf(row)
    if (next.step === 'enable_backups') return backups ? { state: 'done' } : await this.#continued(ref, 'enable_backup')
    if (status === 'off') return { state: 'done' }
    if (this.around.clock.now() < next.until)
      return { state: 'running', operation: stored(operation), detail: 'Waiting for the guest to shut down.' }
    if (next.thenForce) return await this.#continued(ref, 'poweroff')
    throw new CloudError('refused', 'The server did not shut down in time.', null, false)
  }

  async #continued(ref: string, action: string): Promise<Exclude<Polled, { state: 'gone' }>> {
    const response = await this.api.send('POST', `/servers/${ref}/actions/${action}`)
    return { state: 'running', operation: stored({ ref, actions: startedBy(response), next: null }) }
  }

  /** Actions that the API still knows. */
  async #actions(ids: readonly number[]): Promise<HetznerAction[]> {
    if (ids.length === 0) return []
    try {
      return actionsOf((await this.api.get(`/actions?${ids.map(id => `id=${id}`).join('&')}`)).actions)
    } catch (error) {
      if (error instanceof HetznerError && error.failure === 'not_found') return []
      throw error
    }
  }
}

const unchanged: Started = { state: 'done', unchanged: true }

function slugOf(size: ServerOrder['size']): string {
  if ('slug' in size) return size.slug
  throw new CloudError('invalid', 'At Hetzner, the size must be one of the catalog.', null, false)
}

function isSize(row: Record<string, unknown>, server: CloudServer, command: ServerCommand & { verb: 'resize' }): boolean {
  if (server.size !== slugOf(command.size)) return false
  const offered = isObject(row.server_type) ? Number(row.server_type.disk) * gibibyte : NaN
  return !command.upgradeDisk || server.resources.diskBytes === offered
}
