import { readNumberedPages } from '../../../../adapters/numbered-pages'
import type { Clock } from '../../../../core/clock'
import { isObject } from '../../../../dns/octets'
import { HetznerError, type HetznerApi } from '../../../../vendors/hetzner'
import { markLabel } from '../../labels'
import { CloudError, type CloudSnapshot, type CloudStorage, type SnapshotCommand, type Started } from '../cloud'
import { isLabeled, labelsAfter } from '../label-change'
import { perPage } from './catalog'
import { gibibyte, textsOf } from './readings'

const path = '/images?type=snapshot'

/** Snapshots of servers, which are images. They remain when their server is deleted. */
export class HetznerSnapshots implements CloudStorage<CloudSnapshot, SnapshotCommand> {
  constructor(
    private readonly api: HetznerApi,
    private readonly clock: Clock,
  ) {}

  async list(): Promise<CloudSnapshot[]> {
    const rows = await readNumberedPages(
      this.clock,
      page => this.api.page(`${path}&include_deprecated=true&sort=id`, 'images', page, perPage),
      { isById: true },
    )
    return rows.map(snapshotOf)
  }

  async get(ref: string): Promise<CloudSnapshot | null> {
    if (!/^\d{1,16}$/.test(ref)) return null
    try {
      return snapshotOf((await this.api.get(`/images/${ref}`)).image)
    } catch (error) {
      if (error instanceof HetznerError && error.failure === 'not_found') return null
      throw error
    }
  }

  /** Descriptions are not unique, so only the mark tells. */
  async find({ mark }: { mark: string }): Promise<CloudSnapshot | null> {
    const selector = encodeURIComponent(`${markLabel}=${mark}`)
    const { rows } = await this.api.page(`${path}&label_selector=${selector}&sort=id`, 'images', 1, perPage)
    return rows.length === 0 ? null : snapshotOf(rows[0])
  }

  async start(ref: string | null, command: SnapshotCommand): Promise<Started> {
    if (command.verb === 'create') throw new CloudError('refused', 'Hetzner has no snapshots of volumes.', null, false)
    const snapshot = await this.get(ref!)
    if (command.verb === 'set_labels') {
      if (!snapshot) throw new CloudError('not_found', 'The snapshot does not exist at Hetzner.', null, false)
      const { labels, mark } = command
      if (isLabeled(snapshot.labels, labels) && snapshot.mark === mark) return { state: 'done', unchanged: true }
      // All labels are replaced, also the mark.
      await this.api.send('PUT', `/images/${ref}`, { labels: { ...labelsAfter(snapshot.labels, labels), [markLabel]: mark } })
      return { state: 'done' }
    }
    if (!snapshot) return { state: 'done', unchanged: true }
    await this.api.send('DELETE', `/images/${ref}`)
    return { state: 'done' }
  }
}

function snapshotOf(row: unknown): CloudSnapshot {
  const { id, description, status, created, created_from: from, image_size: size, labels } = isObject(row) ? row : {}
  if (!Number.isSafeInteger(id)) throw new CloudError('invalid_response', 'The response of Hetzner has an image without an id.')
  const createdAt = Date.parse(String(created))
  const { [markLabel]: mark, ...others } = textsOf(labels)
  return {
    ref: String(id),
    name: typeof description === 'string' && description !== '' ? description : `Image ${String(id)}`,
    serverRef: isObject(from) && Number.isSafeInteger(from.id) ? String(from.id) : null,
    volumeRef: null,
    status: status === 'creating' ? 'creating' : 'available',
    sizeBytes: typeof size === 'number' ? Math.round(size * gibibyte) : null,
    includesMemory: false,
    createdAt: Number.isNaN(createdAt) ? null : createdAt,
    labels: others,
    mark: mark ?? null,
  }
}
