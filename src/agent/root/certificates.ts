import { createPrivateKey as readPrivateKey, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { areCertificates, pemBlock, pemBlocks } from '../../core/net/pem'
import { sha256Hex } from '../../core/sha256'
import { certificateRequest } from '../../core/x509/certificate-request'
import { createPrivateKey } from '../../core/x509/private-key'
import { maxOutputBytes, type CommandParams } from '../../wire/agent-command'
import type { InstallProfile } from '../certificates/install-profile'
import { readRegularFile } from '../state/read-file'
import { syncFolder, writeFile } from '../state/write-file'
import type { RootFolders } from './folders'
import type { System } from './system'

type Folders = Pick<RootFolders, 'state'>

/** What was done, with something to add if there is, or why it could not be done. */
type Done = { isDone: true; note: string | null } | { isDone: false; detail: string }
const failed = (detail: string): Done => ({ isDone: false, detail })

/** Keys that were created with a profile, and are in no certificate yet. Older ones are deleted. */
const maxKeys = 5
const maxChainBytes = 262_144
/** How long a service may take to load a certificate. */
const loadMs = { reload: 60_000, restart: 300_000 }

/** The folder of a profile, which only root can read. */
const folderOf = ({ state }: Folders, profile: string): string => join(state, 'certificates', profile)

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
 * restored, also if the server restarts in between and the command is repeated.
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
  for (const path of new Set([profile.key, profile.certificate])) refuseUnsafe(path)
  const key = [created, profile.key].map(path => matchingKey(path, leaf)).find(one => one !== null)
  if (!key) return failed('The server has no private key for this certificate.')
  if (busy.has(name)) return failed('Another certificate is being installed with the same profile.')
  busy.add(name)
  try {
    const files = filesOf(profile, certificates.map(one => pemBlock('CERTIFICATE', one.raw)).join(''), key)
    const previous = new Previous(join(folder, 'previous.json'))
    previous.restore()
    previous.store(files.map(one => one.path))
    let loaded: Done
    try {
      for (const { path, content, ...options } of files) writeFile(path, content, { ...options, durable: true })
      loaded = await load(system, profile)
    } catch (error) {
      loaded = failed((error as Error).message)
    }
    if (loaded.isDone) {
      previous.forget()
      rmSync(created, { force: true })
      return loaded
    }
    previous.restore()
    const again = await load(system, profile)
    return failed(
      `${loaded.detail} The previous files were restored.${again.isDone ? '' : ` The service still has a problem: ${again.detail}`}`,
    )
  } finally {
    busy.delete(name)
  }
}

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

/**
 * Only root may change the folders of a file, because others could let root write elsewhere. As in `StrictModes` of sshd, but folders such
 * as /tmp are accepted, in which users can’t replace files of others. None of the folders may be a link, which someone else may control.
 * @throws Error with a sentence
 */
function refuseUnsafe(path: string): void {
  const folderOfFile = dirname(path)
  if (!existsSync(folderOfFile)) throw new Error(`The folder ${folderOfFile} does not exist.`)
  const real = realpathSync(folderOfFile)
  if (real !== folderOfFile) throw new Error(`The folder ${folderOfFile} must not contain links. Without them, it is ${real}.`)
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${path} is not a regular file.`)
  for (let folder = folderOfFile; ; folder = dirname(folder)) {
    const { uid, mode } = statSync(folder)
    const isSafe = (uid === 0 || uid === process.getuid?.()) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)
    if (!isSafe) throw new Error(`${folder} must belong to root, and other users must not be able to write to it.`)
    if (folder === '/') return
  }
}

interface Stored {
  path: string
  /** In base64; null if there was no file. */
  content: string | null
  mode: number
  owner: { uid: number; gid: number }
}

/** The files before a certificate was installed, in a file that only root can read, until the service has loaded the certificate. */
class Previous {
  constructor(private readonly path: string) {}

  store(paths: readonly string[]): void {
    const stored = paths.map((path): Stored => {
      const content = readRegularFile(path)
      if (content === null) return { path, content: null, mode: 0, owner: { uid: 0, gid: 0 } }
      const { mode, uid, gid } = statSync(path)
      return { path, content: content.toString('base64'), mode: mode & 0o7777, owner: { uid, gid } }
    })
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    writeFile(this.path, JSON.stringify(stored), { durable: true })
  }

  /** Does nothing if there are none. */
  restore(): void {
    if (!existsSync(this.path)) return
    for (const { path, content, mode, owner } of JSON.parse(readFileSync(this.path, 'utf8')) as Stored[])
      if (content === null) rmSync(path, { force: true })
      else writeFile(path, Buffer.from(content, 'base64'), { mode, owner, durable: true })
    this.forget()
  }

  forget(): void {
    rmSync(this.path)
    syncFolder(dirname(this.path))
  }
}

/** Lets the service load the files. One that does not run loads them when it starts. */
async function load(system: System, { load: wanted }: InstallProfile): Promise<Done> {
  if (!wanted) return { isDone: true, note: null }
  const { verb, unit } = wanted
  const isActive = () => system.run(['systemctl', 'is-active', '--quiet', '--', unit])
  if (!(await isActive()).isSuccess)
    return { isDone: true, note: `${unit} is not running, so it loads the certificate when it starts.` }
  const { isSuccess, output } = await system.run(['systemctl', verb, '--', unit], { timeoutMs: loadMs[verb] })
  if (!isSuccess) return failed(output || `${unit} could not ${verb}.`)
  return (await isActive()).isSuccess ? { isDone: true, note: null } : failed(`${unit} stopped when it was asked to ${verb}.`)
}
