import { isObject } from '../../../../dns/octets'
import { CloudError } from '../cloud'

/** Effective privileges of a token: by path, with whether they propagate. */
type Privileges = Record<string, Record<string, unknown>>

interface Scope {
  pool?: string
  storage?: string
  /** Such as `9.1.4`. */
  version: string
}

/** Parses `/access/permissions`. */
function privilegesOf(data: unknown): Privileges {
  if (!isObject(data) || !Object.values(data).every(isObject))
    throw new CloudError('invalid_response', 'The response of Proxmox has no permissions.')
  return data as Privileges
}

/** Whether the token can see guests: without the privilege, Proxmox lists none. */
export const canAudit = (data: unknown): boolean =>
  Object.entries(privilegesOf(data)).some(([path, own]) => isFor(path, '/vms') && own['VM.Audit'] !== undefined)

const isFor = (path: string, scope: string) =>
  path === '/' || path === scope || path.startsWith(`${scope}/`) || path.startsWith('/pool/')

/** Which privileges the adapter lacks, as warnings with the path for which each is needed. */
export function missingPrivileges(data: unknown, { pool, storage, version }: Scope): string[] {
  const privileges = privilegesOf(data)
  const has = (privilege: string, paths: readonly string[]) =>
    paths.some(path => {
      const own = privileges[path]?.[privilege]
      return own !== undefined
    })
  const below = (scope: string) => Object.keys(privileges).filter(path => path.startsWith(`${scope}/`))
  const guests =
    pool === undefined
      ? { path: '/vms', paths: ['/vms', ...below('/vms'), ...below('/pool')] }
      : { path: `/pool/${pool}`, paths: ['/vms', `/pool/${pool}`] }
  const storages =
    storage === undefined
      ? { path: '/storage', paths: ['/storage', ...below('/storage')] }
      : {
          path: `/storage/${storage}`,
          paths: [`/storage/${storage}`, ...(`/storage/${storage}` in privileges ? [] : ['/storage'])],
        }
  const networks = { path: '/sdn/zones/localnetwork', paths: ['/sdn', '/sdn/zones', ...below('/sdn')] }
  const hasFineAgent = Number.parseInt(version, 10) >= 9
  const needed: [use: string, privilege: string, where: { path: string; paths: string[] }][] = [
    ['list servers', 'VM.Audit', guests],
    ['switch servers on and off', 'VM.PowerMgmt', guests],
    ['create servers', 'VM.Clone', guests],
    ['create and delete servers', 'VM.Allocate', guests],
    ['create servers', 'Datastore.AllocateSpace', storages],
    ...(Number.parseInt(version, 10) >= 8 ? [['create servers', 'SDN.Use', networks] as (typeof needed)[number]] : []),
    ['set the number of cores', 'VM.Config.CPU', guests],
    ['set the memory', 'VM.Config.Memory', guests],
    ['enlarge disks', 'VM.Config.Disk', guests],
    ['connect servers to networks', 'VM.Config.Network', guests],
    ['rename, tag, and protect servers', 'VM.Config.Options', guests],
    ['add SSH keys to servers', 'VM.Config.Cloudinit', guests],
    ['create snapshots', 'VM.Snapshot', guests],
    ['restore snapshots', 'VM.Snapshot.Rollback', guests],
    ['read the addresses of servers', hasFineAgent ? 'VM.GuestAgent.Audit' : 'VM.Monitor', guests],
  ]
  return needed
    .filter(([, privilege, { paths }]) => !has(privilege, paths))
    .map(([use, privilege, { path }]) => `The API token lacks ${privilege} on ${path}, which is needed to ${use}.`)
}
