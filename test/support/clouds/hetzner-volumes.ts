import { HetznerRefused, invalidInput, notFound } from '../hetzner-refused'
import {
  labelSelector,
  refuseLabels,
  uniqueness,
  type HetznerAction,
  type HetznerProject,
  type HetznerServer,
  type HetznerVolume,
} from './hetzner-project'
import { actionShown, created, matches, ok, sorted, type Call, type Routes } from './hetzner-routes'

interface VolumeDraft {
  name: string
  size: number
  location?: string | number
  server?: number
  format?: string
  labels?: Record<string, string>
}

/** Volumes and what can be done to them. */
export function volumeRoutes(project: HetznerProject): Routes {
  const shown = (action: HetznerAction) => actionShown(project, action)
  const volumeOf = ({ ids }: Call): HetznerVolume => {
    const volume = project.volumes.get(ids[0]!)
    if (!volume) throw notFound(`volume with ID '${ids[0]}'`)
    return volume
  }
  const unlockedOf = (call: Call): HetznerVolume => {
    const volume = volumeOf(call)
    if (project.isLocked('volume', volume.id)) throw new HetznerRefused(423, 'locked', 'volume is locked')
    return volume
  }
  const list = ({ query }: Call) => {
    const isSelected = labelSelector(query.get('label_selector'))
    const found = [...project.volumes.values()].filter(
      one => matches(query, 'name', one.name) && matches(query, 'status', one.status) && isSelected(one.labels),
    )
    return sorted(found, query, (one, field) => (field === 'name' ? one.name : one.created))
  }
  return {
    'GET /volumes': call =>
      call.listed(
        'volumes',
        () => list(call),
        one => volumeShown(project, one),
      ),
    'GET /volumes/{id}': call => ok({ volume: volumeShown(project, volumeOf(call)) }),
    'POST /volumes': ({ body }) => {
      const { volume, action, next } = createVolume(project, body)
      return created({ volume: volumeShown(project, volume), action: shown(action), next_actions: next.map(shown) })
    },
    'PUT /volumes/{id}': call => {
      const volume = volumeOf(call)
      const { name, labels } = call.body
      refuseLabels(labels)
      if (name !== undefined) refuseName(project, name, volume)
      Object.assign(volume, call.body)
      return ok({ volume: volumeShown(project, volume) })
    },
    'DELETE /volumes/{id}': call => {
      const volume = unlockedOf(call)
      if (volume.protection.delete) throw new HetznerRefused(423, 'protected', 'volume is protected')
      if (volume.server !== null) throw new HetznerRefused(422, 'resource_in_use', 'volume is attached to a server')
      project.volumes.delete(volume.id)
      return { status: 204 }
    },
    'POST /volumes/{id}/actions/attach': call => {
      const volume = unlockedOf(call)
      return created({ action: shown(attach(project, volume, attachable(project, volume, call.body.server))) })
    },
    'POST /volumes/{id}/actions/detach': call => {
      const volume = unlockedOf(call)
      if (volume.server === null) throw new HetznerRefused(422, 'service_error', 'volume is not attached')
      const action = project.act('detach_volume', [resourceOf(volume), { id: volume.server, type: 'server' }], () => {
        volume.server = null
      })
      return created({ action: shown(action) })
    },
    'POST /volumes/{id}/actions/resize': call => {
      const volume = unlockedOf(call)
      const { size } = call.body
      refuseSize(size)
      if (size <= volume.size) throw invalidInput('size', 'Must be greater than the current size.')
      return created({ action: shown(project.act('resize_volume', [resourceOf(volume)], () => (volume.size = size))) })
    },
    'POST /volumes/{id}/actions/change_protection': call => {
      const volume = unlockedOf(call)
      const action = project.act('change_protection', [resourceOf(volume)], () => Object.assign(volume.protection, call.body))
      return created({ action: shown(action) })
    },
  }
}

/** Creates a volume, and attaches it if it names a server. @throws HetznerRefused */
export function createVolume(project: HetznerProject, draft: VolumeDraft) {
  const { name, size, format = null, labels = {} } = draft
  refuseName(project, name)
  refuseLabels(labels)
  refuseSize(size)
  if (format !== null && !['ext4', 'xfs'].includes(format)) throw invalidInput('format', 'Must be ext4 or xfs.')
  const server = draft.server === undefined ? null : serverFor(project, draft.server)
  if (!server && draft.location === undefined) throw invalidInput('location', 'Missing data for required field.')
  const location = server?.location ?? project.location(draft.location!).name
  if (project.fullLocations.has(location))
    throw new HetznerRefused(422, 'no_space_left_in_location', 'no volume space left in location')
  const volume: HetznerVolume = {
    ...{ id: project.newId(), name, size, format, labels, location, server: null, status: 'creating', created: project.now() },
    protection: { delete: false },
  }
  project.volumes.set(volume.id, volume)
  const action = project.act('create_volume', [resourceOf(volume)], () => void (volume.status = 'available'), {
    failed: () => project.volumes.delete(volume.id),
  })
  return { volume, action, next: server ? [attach(project, volume, server, action)] : [] }
}

/** Finds the server that a volume can be attached to. @throws HetznerRefused */
export function attachable(project: HetznerProject, volume: HetznerVolume, serverId: number): HetznerServer {
  const server = serverFor(project, serverId)
  if (volume.server !== null) throw new HetznerRefused(422, 'volume_already_attached', 'volume is already attached to a server')
  if (server.location !== volume.location) throw invalidInput('server', 'server and volume must be in the same location')
  if (project.isLocked('server', server.id)) throw new HetznerRefused(423, 'locked', 'server is locked')
  return server
}

/** Starts attaching a volume. @param after an action that it waits for */
export const attach = (
  project: HetznerProject,
  volume: HetznerVolume,
  { id }: HetznerServer,
  after?: HetznerAction,
): HetznerAction =>
  project.act('attach_volume', [resourceOf(volume), { id, type: 'server' }], () => void (volume.server = id), {
    ...(after && { after }),
  })

const volumeShown = (project: HetznerProject, volume: HetznerVolume): object => ({
  ...volume,
  location: project.location(volume.location),
  linux_device: `/dev/disk/by-id/scsi-0HC_Volume_${volume.id}`,
})

const resourceOf = ({ id }: HetznerVolume) => ({ id, type: 'volume' })

function serverFor(project: HetznerProject, id: number): HetznerServer {
  const server = project.servers.get(id)
  if (!server) throw notFound(`server with ID '${id}'`)
  return server
}

function refuseName(project: HetznerProject, name: string, of?: HetznerVolume): void {
  if (!/^[a-zA-Z0-9](?:[\w.-]{0,62}[a-zA-Z0-9])?$/.test(name)) throw invalidInput('name', 'Must be a valid name.')
  for (const one of project.volumes.values()) if (one !== of && one.name === name) throw uniqueness('volume name')
}

function refuseSize(size: number): void {
  if (!Number.isInteger(size) || size < 10 || size > 10_240) throw invalidInput('size', 'Must be between 10 and 10240.')
}
