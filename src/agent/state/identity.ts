import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../transport/answers'
import { readRegularFile } from './read-file'
import { writeFile } from './write-file'

/** What an agent got when it was enrolled. */
export interface Identity {
  /** URL of the hub where it was enrolled. */
  hub: string
  agent_id: string
  server_id: string
  token: string
  /** Key of the hub, as in `publicKeyText`. */
  hub_key: string
}

/** The identity of the agent at a hub; null if it has not been enrolled there. */
export function readIdentity(stateFolder: string, hub: string): Identity | null {
  const read = readJson(join(stateFolder, 'identity.json'))
  if (!isRecord(read) || read.hub !== hub) return null
  const { agent_id, server_id, token, hub_key } = read
  if ([agent_id, server_id, token, hub_key].some(one => typeof one !== 'string')) return null
  return read as unknown as Identity
}

export function writeIdentity(stateFolder: string, identity: Identity): void {
  writeFile(join(stateFolder, 'identity.json'), `${JSON.stringify(identity, null, 2)}\n`, { durable: true })
}

/** The Ed25519 key with which the agent signs its requests. It is created once, and never leaves the server. */
export async function signingKey(stateFolder: string): Promise<CryptoKey> {
  const path = join(stateFolder, 'key')
  const stored = readRegularFile(path)
  // PKCS #8 in DER (RFC 8410).
  if (stored) return await crypto.subtle.importKey('pkcs8', new Uint8Array(stored), 'Ed25519', true, ['sign'])
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
  const { privateKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  writeFile(path, new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey)), { durable: true })
  return privateKey
}

/** The value of a JSON file; null if there is none, or it is not a regular file with JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readRegularFile(path)?.toString() ?? 'null')
  } catch {
    return null
  }
}
