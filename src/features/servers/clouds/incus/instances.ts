import { flatMapInTurns } from '../../../../core/time-slices'
import { isObject } from '../../../../dns/octets'
import type { IncusClient } from './client'
import { instanceOf, isOlder, markKey, type Instance } from './readings'

/** Instances of a project. */
export class Instances {
  constructor(private readonly client: IncusClient) {}

  async all(): Promise<Instance[]> {
    return await flatMapInTurns(await this.rows(), one => [instanceOf(one)])
  }

  /** All instances as the API lists them, with state and snapshots, which are absent where they can’t be read. */
  async rows(): Promise<Record<string, unknown>[]> {
    const rows = await this.client.list('/instances?recursion=2')
    // An instance whose state can’t be read, such as one that is just switching itself off, has nothing but its name there.
    const isNamedOnly = ({ config }: (typeof rows)[number]) => !isObject(config)
    const listed = rows.some(isNamedOnly) ? await this.client.list('/instances?recursion=1') : []
    const stored = new Map(listed.map(one => [one.name, one]))
    return rows.map(one => (isNamedOnly(one) ? { ...stored.get(one.name), status: one.status } : one))
  }

  async byName(name: string): Promise<Instance | null> {
    // The path without a name is the list.
    const row = name === '' ? null : await this.client.find(`${pathOf(name)}?recursion=1`)
    return row && instanceOf(row)
  }

  /** @param ref as `refOf` returns it */
  async byRef(ref: string): Promise<Instance | null> {
    // Instances without a UUID are identified by their name.
    return isUuid.test(ref) ? await this.#oldestWith('volatile.uuid', ref) : await this.byName(ref)
  }

  async byMark(mark: string): Promise<Instance | null> {
    return /^[\w-]{1,100}$/.test(mark) ? await this.#oldestWith(markKey, mark) : null
  }

  /** The original, if there are copies with the same configuration. */
  async #oldestWith(key: string, value: string): Promise<Instance | null> {
    const rows = await this.client.list(`/instances?recursion=1&filter=${encodeURIComponent(`config.${key} eq ${value}`)}`)
    // Without its network: that would be read for all instances before they are filtered.
    const found = rows.map(instanceOf).filter(one => one.config[key] === value)
    const oldest = found.reduce<Instance | undefined>((a, b) => (isOlder(b, a) ? b : a), undefined)
    const instance = oldest && (await this.byName(oldest.name))
    return instance?.config[key] === value ? instance : null
  }
}

const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const pathOf = (name: string): string => `/instances/${encodeURIComponent(name)}`

/** The name in the ref of a snapshot, which begins with the ref of its instance. */
export const snapshotNameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)
export const snapshotPath = (instance: string, name: string): string =>
  `${pathOf(instance)}/snapshots/${encodeURIComponent(name)}`
