import { createPrivateKey as readPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { areCertificates, pemBlock, pemBlocks } from '../../core/net/pem'
import { sha256Hex } from '../../core/sha256'
import { certificateRequest } from '../../core/x509/certificate-request'
import { createPrivateKey } from '../../core/x509/private-key'
import { maxOutputBytes, type CommandParams } from '../../wire/agent-command'
import type { InstallProfile } from '../certificates/install-profile'
import { readRegularFile } from '../state/read-file'
import { writeFile } from '../state/write-file'
import type { RootFolders } from './folders'
import { PreviousFiles, profilesFolder } from './previous-files'
import { refuseUnsafe } from './safe-path'
import type { System } from './system'

type Folders = Pick<RootFolders, 'state'>

/** What was done, with something to add if there is, or why it could not be done. */
type Done = { isDone: true; note: string | null } | { isDone: false; detail: string; isBusy?: true }
const failed = (detail: string): Done => ({ isDone: false, detail })

/** Keys that were created with a profile, and are in no certificate yet. Older ones are deleted. */
const maxKeys = 5
const maxChainBytes = 262_144
/** How long a service may take to load a certificate, and then the previous one. The agent waits seven minutes for both. */
const loadMs = 150_000
/** How long systemd may take to respond. */
const askMs = 10_000

const folderOf = (folders: Folders, profile: string): string => join(profilesFolder(folders), profile)

/** Creates a private key, which never leaves the server. @returns a certificate request for it as PEM @throws Error with a sentence */
export async function createKey(
  folders: Folders,
  { names, key_type, install_profile }: CommandParams['certificate_csr'],
): Promise<string> {
  const folder = folderOf(folders, install_profile)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = await createPrivateKey(key_type)
  const request = certificateRequest(names, key)
  if (request.length > maxOutputBytes) throw new Error('The names are too long for a certificate request.')
  writeFile(join(folder, `${idOf(createPublicKey(key))}.key`), key, { durable: true })
  const keys = readdirSync(folder).filter(name => name.endsWith('.key'))
  const age = (name: string) => statSync(join(folder, name)).mtimeMs
  for (const old of keys.toSorted((a, b) => age(b) - age(a)).slice(maxKeys)) rmSync(join(folder, old))
  return request
}

/** Identifies a key, also before it has a certificate. */
const idOf = (key: KeyObject): string => sha256Hex(key.export({ type: 'spki', format: 'der' }))

/** Profiles with which a certificate is being installed. */
const busy = new Set<string>()

/**
 * Installs a certificate for a key that was created here, and lets the service load it. If the service can’t, the previous files are
 * restored, also if the server restarts in between.
 */
export async function installCertificate(
  system: System,
  folders: Folders,
  profile: InstallProfile,
  { chain, fingerprint, install_profile: name }: CommandParams['certificate_install'],
): Promise<Done> {
  if (chain.length > maxChainBytes || !areCertificates(chain)) return failed('The chain does not consist of certificates.')
  const certificates = pemBlocks(chain).map(one => new X509Certificate(one))
  const [leaf] = certificates as [X509Certificate]
  if (sha256Hex(leaf.raw) !== fingerprint) return failed('The certificate does not match its fingerprint.')
  const folder = folderOf(folders, name)
  const created = join(folder, `${idOf(leaf.publicKey)}.key`)
  // Before anything is read there.
  for (const path of pathsOf(profile)) refuseUnsafe(path)
  const key = [created, profile.key].map(path => matchingKey(path, leaf)).find(one => one !== null)
  if (!key) return failed('The server has no private key for this certificate.')
  if (busy.has(name))
    return { isDone: false, detail: 'Another certificate is being installed with the same profile.', isBusy: true }
  busy.add(name)
  try {
    const files = filesOf(profile, certificates.map(one => pemBlock('CERTIFICATE', one.raw)).join(''), key)
    const previous = new PreviousFiles(folder)
    let running: string | null = null
    if (previous.exist) {
      running = previous.running
      previous.restore(pathsOf(profile))
    }
    if (profile.load && (await stateOf(system, profile.load.unit)).isActive) running = profile.load.unit
    previous.store(files, running)
    let loaded: Done
    try {
      for (const { path, content, ...options } of files) writeFile(path, content, { ...options, durable: true })
      loaded = await load(system, profile)
    } catch (error) {
      loaded = failed((error as Error).message)
    }
    if (!loaded.isDone) return failed(`${loaded.detail} ${await restore(system, profile, previous)}`)
    previous.forget()
    rmSync(created, { force: true })
    return loaded
  } finally {
    busy.delete(name)
  }
}

/**
 * Restores the files of an installation that was interrupted, and lets the service load them.
 * @param profile undefined if it was removed
 * @returns what was done, as sentences; null if an installation is in progress
 */
export async function restoreInterrupted(
  system: System,
  folders: Folders,
  name: string,
  profile: InstallProfile | undefined,
): Promise<string | null> {
  const previous = new PreviousFiles(folderOf(folders, name))
  if (busy.has(name) || !previous.exist) return null
  const interrupted = `The installation of a certificate with the profile ${name} was interrupted.`
  if (!profile) {
    previous.forget()
    return `${interrupted} The profile was removed, so the previous files were not restored.`
  }
  busy.add(name)
  try {
    return `${interrupted} ${await restore(system, profile, previous)}`
  } finally {
    busy.delete(name)
  }
}

/** Restores the previous files, and lets the service load them, which is started if it was running with them. @returns what was done, as sentences */
async function restore(system: System, profile: InstallProfile, previous: PreviousFiles): Promise<string> {
  const { running } = previous
  const reason = previous.restore(pathsOf(profile))
  if (reason !== null) return `The previous files were not restored: ${reason}`
  const loaded = await load(system, profile, running)
  return `The previous files were restored.${loaded.isDone ? '' : ` The service still has a problem: ${loaded.detail}`}`
}

const pathsOf = ({ certificate, key }: InstallProfile): string[] => [certificate, key]

/** The key in a file as PEM; null if there is none, or if it belongs to another certificate. */
function matchingKey(path: string, leaf: X509Certificate): string | null {
  try {
    const content = readRegularFile(path)
    if (content === null) return null
    const key = readPrivateKey(content)
    return leaf.checkPrivateKey(key) ? (key.export({ type: 'pkcs8', format: 'pem' }) as string) : null
  } catch {
    return null
  }
}

interface File {
  path: string
  content: string
  mode: number
  owner: { uid: number; gid: number }
}

/** What a profile consists of. The key comes first, and the service is reloaded after both. */
function filesOf({ certificate, key: keyPath, user, group, mode }: InstallProfile, chain: string, key: string): File[] {
  const owner = { uid: accountId('/etc/passwd', user), gid: accountId('/etc/group', group) }
  if (certificate === keyPath) return [{ path: keyPath, content: `${chain}${key}`, mode, owner }]
  return [
    { path: keyPath, content: key, mode, owner },
    { path: certificate, content: chain, mode: 0o644, owner },
  ]
}

/** The ID of a user or group. @throws Error with a sentence */
function accountId(file: string, name: string): number {
  if (/^\d+$/.test(name)) return Number(name)
  const line = readFileSync(file, 'utf8')
    .split('\n')
    .find(one => one.startsWith(`${name}:`))
  const id = Number(line?.split(':')[2])
  if (!line || !Number.isSafeInteger(id)) throw new Error(`${name} is not in ${file}.`)
  return id
}

/** States in which a unit is not started: nothing is wrong with it. */
const idle: ReadonlySet<string> = new Set(['inactive', 'deactivating', 'unknown'])

async function stateOf(system: System, unit: string): Promise<{ isActive: boolean; state: string }> {
  const { isSuccess, output } = await system.run(['systemctl', 'is-active', '--', unit], { timeoutMs: askMs })
  return { isActive: isSuccess, state: output.trim() }
}

/**
 * Lets the service load the files. One that does not run loads them when it starts, unless it has failed: then it is started, because
 * its files may have been the reason.
 * @param running a unit that was running and is started again
 */
async function load(system: System, { load: wanted }: InstallProfile, running: string | null = null): Promise<Done> {
  if (!wanted) return { isDone: true, note: null }
  const { unit } = wanted
  const { isActive, state } = await stateOf(system, unit)
  if (!isActive && running !== unit && idle.has(state))
    return { isDone: true, note: `${unit} is not running, so it loads the certificate when it starts.` }
  // Otherwise, systemd refuses to start a unit that failed several times in a row.
  if (!isActive) await system.run(['systemctl', 'reset-failed', '--', unit], { timeoutMs: askMs })
  const verb = isActive ? wanted.verb : 'restart'
  const { isSuccess, output } = await system.run(['systemctl', verb, '--', unit], { timeoutMs: loadMs })
  if (!isSuccess) return failed(output || `${unit} could not ${verb}.`)
  return (await stateOf(system, unit)).isActive
    ? { isDone: true, note: null }
    : failed(`${unit} stopped when it was asked to ${verb}.`)
}
