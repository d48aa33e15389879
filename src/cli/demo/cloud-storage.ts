import { listed, refused, seconds, type Resource, type Row } from './cloud-responses'

/** A new volume. Its size is in gigabytes. */
export interface VolumeDraft {
  name: string
  size: number
  location: string
  format?: string
  labels?: Record<string, string>
}

interface Volume extends Required<Omit<VolumeDraft, 'format'>> {
  id: number
  format: string | null
  status: string
  /** Id of the server that it is attached to. */
  server: number | null
  createdAt: number
  isProtected: boolean
}

/** The server that a snapshot is created from. */
interface Origin {
  id: number
  name: string
  /** Of its disk, in gigabytes. */
  disk: number
}

interface Snapshot {
  id: number
  description: string
  origin: Origin
  status: string
  labels: Record<string, string>
  createdAt: number
}

/** What volumes and snapshots need of their cloud. */
interface Cloud {
  newId(): number
  /** ms UTC. */
  now(): number
  /** Starts a change that takes a while. @param end what is different afterwards */
  start(resource: Resource, command: string, end: () => void): Row
  /** By name. */
  location(name: string): Row | undefined
}

/** Part of its disk that a snapshot needs. */
const usedShare = 0.15

/** The volumes and snapshots of the demo’s cloud. */
export class DemoStorage {
  readonly #volumes = new Map<number, Volume>()
  readonly #snapshots = new Map<number, Snapshot>()

  constructor(private readonly cloud: Cloud) {}

  addVolume(draft: VolumeDraft, server: number | null = null, createdAt = this.cloud.now()): Volume {
    const volume: Volume = {
      ...{ id: this.cloud.newId(), labels: {}, ...draft, format: draft.format ?? null },
      ...{ status: 'available', server, createdAt, isProtected: false },
    }
    this.#volumes.set(volume.id, volume)
    return volume
  }

  addSnapshot(origin: Origin, description: string, createdAt = this.cloud.now()): Snapshot {
    const snapshot = { id: this.cloud.newId(), description, origin, status: 'available', labels: {}, createdAt }
    this.#snapshots.set(snapshot.id, snapshot)
    return snapshot
  }

  /** Attaches volumes to a new server. */
  attach(server: number, ids: readonly number[] = []): void {
    for (const id of ids) this.#volumes.get(id)!.server = server
  }

  /** Releases the volumes of a server that was deleted. */
  release(server: number): void {
    for (const one of this.#volumes.values()) if (one.server === server) one.server = null
  }

  /** Starts a snapshot of a server. */
  createImage(origin: Origin, { description, labels }: Row): Row {
    const snapshot = Object.assign(this.addSnapshot(origin, description), { status: 'creating', labels })
    const action = this.cloud.start({ id: origin.id, type: 'server' }, 'create_image', () => (snapshot.status = 'available'))
    return { image: snapshotJson(snapshot), action }
  }

  /** The snapshots, as images. */
  images(): Row[] {
    return [...this.#snapshots.values()].map(snapshotJson)
  }

  /** Handles a request for a snapshot. */
  respondForImage(method: string, id: number, body: Row): Response {
    const snapshot = this.#snapshots.get(id)
    if (!snapshot) return refused(404, 'not_found', 'image not found')
    if (method === 'DELETE') {
      this.#snapshots.delete(id)
      return new Response(null, { status: 204 })
    }
    if (method === 'PUT') Object.assign(snapshot, body)
    return Response.json({ image: snapshotJson(snapshot) })
  }

  /** Handles a request for volumes. */
  respondForVolumes(method: string, path: string, query: URLSearchParams, body: Row): Response {
    const all = [...this.#volumes.values()]
    if (path === '/volumes' && method === 'GET') return listed('volumes', all.map(this.#json), query)
    if (path === '/volumes') {
      if (all.some(one => one.name === body.name)) return refused(409, 'uniqueness_error', 'volume name is already used')
      const created = Object.assign(this.addVolume(body as VolumeDraft), { status: 'creating' })
      const action = this.#start(created, 'create_volume', () => (created.status = 'available'))
      return Response.json({ volume: this.#json(created), action, next_actions: [] }, { status: 201 })
    }
    const volume = this.#volumes.get(Number(path.split('/')[2]))
    if (!volume) return refused(404, 'not_found', 'volume not found')
    if (method === 'POST') {
      const change = this.#changes[path.split('/').at(-1)!]
      if (!change) return refused(404, 'not_found', 'not found')
      const action = this.#start(volume, `${path.split('/').at(-1)}_volume`, () => change(volume, body))
      return Response.json({ action }, { status: 201 })
    }
    if (method === 'DELETE') {
      this.#volumes.delete(volume.id)
      return new Response(null, { status: 204 })
    }
    if (method === 'PUT') Object.assign(volume, body)
    return Response.json({ volume: this.#json(volume) })
  }

  readonly #changes: Record<string, (volume: Volume, body: Row) => unknown> = {
    attach: (volume, { server }) => (volume.server = server),
    detach: volume => (volume.server = null),
    resize: (volume, { size }) => (volume.size = size),
    change_protection: (volume, body) => (volume.isProtected = body.delete),
  }

  #start({ id }: Volume, command: string, end: () => void): Row {
    return this.cloud.start({ id, type: 'volume' }, command, end)
  }

  readonly #json = ({ createdAt, isProtected, location, ...volume }: Volume): Row => ({
    ...volume,
    location: this.cloud.location(location),
    linux_device: `/dev/disk/by-id/scsi-0HC_Volume_${volume.id}`,
    protection: { delete: isProtected },
    created: seconds(createdAt),
  })
}

const snapshotJson = ({ origin: { disk, ...from }, createdAt, ...snapshot }: Snapshot): Row => ({
  ...snapshot,
  ...{ type: 'snapshot', name: null, created_from: from, created: seconds(createdAt) },
  ...{ image_size: snapshot.status === 'creating' ? null : disk * usedShare, disk_size: disk },
  ...{ architecture: 'x86', os_flavor: 'debian', deprecated: null },
})
