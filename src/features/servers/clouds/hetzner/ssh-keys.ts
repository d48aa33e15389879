import { createHash } from 'node:crypto'
import { readNumberedPages } from '../../../../adapters/numbered-pages'
import type { Clock } from '../../../../core/clock'
import { isObject } from '../../../../dns/octets'
import { HetznerError, type HetznerApi } from '../../../../vendors/hetzner'
import { CloudError, type ServerOrder } from '../cloud'
import { perPage } from './catalog'

/** Finds the SSH keys of an order in the project, or adds them. Returns their ids. */
export async function addSshKeys(api: HetznerApi, keys: ServerOrder['sshKeys']): Promise<number[]> {
  const ids: number[] = []
  for (const key of keys) ids.push(await addSshKey(api, key))
  return [...new Set(ids)]
}

/** Ids of all SSH keys in the project. */
export async function readSshKeys(api: HetznerApi, clock: Clock): Promise<number[]> {
  const rows = await readNumberedPages(clock, page => api.page('/ssh_keys?sort=id', 'ssh_keys', page, perPage), { isById: true })
  return rows.map(one => Number(one.id))
}

/** Keys are identified by their fingerprint, and have unique names. */
async function addSshKey(api: HetznerApi, { name, publicKey }: ServerOrder['sshKeys'][number]): Promise<number> {
  const fingerprint = fingerprintOf(publicKey)
  const find = async (): Promise<number | null> => {
    const { ssh_keys } = await api.get(`/ssh_keys?fingerprint=${encodeURIComponent(fingerprint)}`)
    if (!Array.isArray(ssh_keys)) throw new CloudError('invalid_response', 'The response of Hetzner has no list of SSH keys.')
    return ssh_keys.length === 0 ? null : idOf(ssh_keys[0])
  }
  const add = async (keyName: string): Promise<number | null> => {
    try {
      const { ssh_key } = await api.send('POST', '/ssh_keys', { name: keyName, public_key: publicKey })
      return idOf(ssh_key)
    } catch (error) {
      if (!(error instanceof HetznerError) || error.failure !== 'already_exists') throw error
      // Either someone added it meanwhile, or another key has this name.
      return await find()
    }
  }
  const id = (await find()) ?? (await add(name)) ?? (await add(`${name} ${fingerprint}`))
  if (id === null) throw new CloudError('already_exists', `An SSH key named ${name} already exists in the project.`, null, false)
  return id
}

/** MD5 of the key, as the API has it. */
function fingerprintOf(publicKey: string): string {
  const blob = Buffer.from(publicKey.trim().split(/\s+/)[1] ?? '', 'base64')
  return createHash('md5').update(blob).digest('hex').match(/../g)!.join(':')
}

function idOf(key: unknown): number {
  const { id } = isObject(key) ? key : {}
  if (!Number.isSafeInteger(id)) throw new CloudError('invalid_response', 'The response of Hetzner has an SSH key without an id.')
  return id as number
}
