import { readNumberedPages } from '../../../../adapters/numbered-pages'
import type { Clock } from '../../../../core/clock'
import { isObject } from '../../../../dns/octets'
import { HetznerError, type HetznerApi } from '../../../../vendors/hetzner'
import { markLabel } from '../../labels'
import {
  CloudError,
  type CloudStorage,
  type CloudVolume,
  type Started,
  type VolumeCapabilities,
  type VolumeCommand,
  type VolumeOrder,
} from '../cloud'
import { isLabeled, labelsAfter } from '../label-change'
import { perPage } from './catalog'
import { startedBy, stored } from './operation'
import { gibibyte, textsOf } from './readings'

export const volumeCapabilities: VolumeCapabilities = {
  names: {
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$',
    rule: 'must be 1 to 64 letters, digits, dots, hyphens, and underscores, and start and end with a letter or digit.',
  },
  minBytes: 10 * gibibyte,
  maxBytes: 10_240 * gibibyte,
  stepBytes: gibibyte,
  formats: ['ext4', 'xfs'],
  isMounted: false,
  protection: true,
  snapshots: false,
  renamedInUse: true,
}

/** Volumes of a project. */
export class HetznerVolumes implements CloudStorage<CloudVolume, VolumeCommand> {
  constructor(
    private readonly api: HetznerApi,
    private readonly clock: Clock,
  ) {}

  async list(): Promise<CloudVolume[]> {
    const rows = await readNumberedPages(this.clock, page => this.api.page('/volumes?sort=id', 'volumes', page, perPage), {
      isById: true,
    })
    return rows.map(volumeOf)
  }

  async get(ref: string): Promise<CloudVolume | null> {
    if (!/^\d{1,16}$/.test(ref)) return null
    try {
      return volumeOf((await this.api.get(`/volumes/${ref}`)).volume)
    } catch (error) {
      if (error instanceof HetznerError && error.failure === 'not_found') return null
      throw error
    }
  }

  async find({ mark, name }: Pick<VolumeOrder, 'mark' | 'name'>): Promise<CloudVolume | null> {
    const selector = encodeURIComponent(`${markLabel}=${mark}`)
    return (await this.#first(`label_selector=${selector}`)) ?? (await this.#first(`name=${encodeURIComponent(name)}`))
  }

  async start(ref: string | null, command: VolumeCommand): Promise<Started> {
    if (command.verb === 'create') return await this.#create(command.order)
    const volume = await this.get(ref!)
    if (!volume) {
      if (command.verb === 'delete') return unchanged
      throw new CloudError('not_found', 'The volume does not exist at Hetzner.', null, false)
    }
    const act = (action: string, body?: object) => this.#act(volume.ref, action, body)
    switch (command.verb) {
      case 'attach':
        if (volume.serverRef === command.serverRef) return unchanged
        return await act('attach', { server: Number(command.serverRef), automount: false })
      case 'detach':
        return volume.serverRef === null ? unchanged : await act('detach')
      case 'resize':
        return volume.sizeBytes === command.sizeBytes ? unchanged : await act('resize', { size: gigabytes(command.sizeBytes) })
      case 'set_protection':
        return volume.isProtected === command.isProtected
          ? unchanged
          : await act('change_protection', { delete: command.isProtected })
      case 'restore_snapshot':
        throw new CloudError('refused', 'Hetzner has no snapshots of volumes.', null, false)
      case 'update': {
        const { name, labels } = command
        const isNamed = name === null || volume.name === name
        const mark = command.isMade ? command.mark : volume.mark
        if (isNamed && isLabeled(volume.labels, labels) && volume.mark === mark) return unchanged
        // All labels are replaced, also the mark.
        const own = mark === null ? {} : { [markLabel]: mark }
        const changed = { ...(!isNamed && { name }), labels: { ...labelsAfter(volume.labels, labels), ...own } }
        await this.api.send('PUT', `/volumes/${volume.ref}`, changed)
        return { state: 'done' }
      }
      case 'delete':
        await this.api.send('DELETE', `/volumes/${volume.ref}`)
        return { state: 'done' }
    }
  }

  async #create({ name, mark, sizeBytes, location, format, labels }: VolumeOrder): Promise<Started> {
    const response = await this.api.send('POST', '/volumes', {
      name,
      size: gigabytes(sizeBytes),
      ...(location !== null && { location }),
      ...(format !== null && { format }),
      labels: { ...labels, [markLabel]: mark },
    })
    const { ref } = volumeOf(response.volume)
    return { state: 'running', operation: stored({ ref, actions: startedBy(response), next: null }), ref }
  }

  async #act(ref: string, action: string, body: object | undefined): Promise<Started> {
    const response = await this.api.send('POST', `/volumes/${ref}/actions/${action}`, body)
    return { state: 'running', operation: stored({ ref, actions: startedBy(response), next: null }) }
  }

  async #first(filter: string): Promise<CloudVolume | null> {
    const { rows } = await this.api.page(`/volumes?${filter}&sort=id`, 'volumes', 1, perPage)
    return rows.length === 0 ? null : volumeOf(rows[0])
  }
}

const unchanged: Started = { state: 'done', unchanged: true }

const gigabytes = (bytes: number): number => Math.ceil(bytes / gibibyte)

function volumeOf(row: unknown): CloudVolume {
  const { id, name, status, server, location, size, format, linux_device, labels, protection } = isObject(row) ? row : {}
  if (!Number.isSafeInteger(id) || typeof name !== 'string' || typeof size !== 'number')
    throw new CloudError('invalid_response', 'The response of Hetzner has a volume without an id, name, or size.')
  const { [markLabel]: mark, ...others } = textsOf(labels)
  return {
    ref: String(id),
    name,
    status: status === 'creating' ? 'creating' : 'available',
    serverRef: Number.isSafeInteger(server) ? String(server) : null,
    location: isObject(location) && typeof location.name === 'string' ? location.name : null,
    sizeBytes: size * gibibyte,
    format: typeof format === 'string' ? format : null,
    device: typeof linux_device === 'string' ? linux_device : null,
    mountPath: null,
    labels: others,
    isProtected: isObject(protection) && protection.delete === true,
    mark: mark ?? null,
  }
}
