import { createPrivateKey, X509Certificate } from 'node:crypto'
import { lstatSync, statSync } from 'node:fs'
import { certificateDetails } from '../../checks/certificate-details'
import type { AgentCertificateFile } from '../../wire/agent-certificates'
import { certificateLimits } from '../../wire/agent-limits'
import { nameOf } from '../sample/line'
import type { Root } from '../sample/root'
import { userNames } from '../sample/sockets'
import { configuredReferences, type Reference } from './directives'
import { knownPlaces, type FileKind, type Place } from './places'
import { matchingPaths, readCertificateFile, Unreadable, type ReadFile, storableTime } from './safe-files'

/** What was found in files, as plain values. */
export interface FoundFiles {
  files: AgentCertificateFile[]
  /** The certificates as DER in base64, by SHA-256. */
  certificates: Record<string, string>
  /** Names for which services on this server may present a certificate. */
  names: string[]
  problems: string[]
}

/** A file to read. */
interface Candidate {
  kind: FileKind
  path: string
  folder: string | undefined
  key: string | null
  references: Set<string>
  names: Set<string>
  /** Whether someone named it, so that it must exist. */
  isNamed: boolean
}

/** A leaf with the certificates that follow it. */
interface Chain {
  /** Added to the path of a file with several chains. */
  suffix: string
  /** DER in base64 by SHA-256, in order. */
  certificates: Map<string, string>
  names: readonly string[]
  /** Private keys as PEM, which never leave this file. */
  keys: readonly string[]
  leaf: Uint8Array
}

const maxNames = 200

/**
 * Reads the certificates in files: in known places, those that the configurations of services name, and own patterns.
 * @param own patterns of paths
 * @param keys of own files, by path
 */
export function findCertificateFiles(root: Root, own: readonly string[], keys: KeyPaths = new Map()): FoundFiles {
  const problems = new Set<string>()
  const unlisted = new Map<string, string>()
  const unreadable = (path: string, reason: string) => {
    if (exists(root, path)) unlisted.set(path, reason)
  }
  const candidates = candidatesIn(root, own, keys, unreadable)
  const users = userNames(root)
  const found: FoundFiles = { files: [], certificates: {}, names: [], problems: [] }
  const names = new Set<string>()
  const seen = new Map<string, AgentCertificateFile[]>()
  let bytes = 0
  for (const [path, reason] of unlisted)
    found.files.push(entry(root, users, { kind: kindOf(path), path, references: new Set() }, null, reason))
  for (const candidate of candidates) {
    if (found.files.length >= certificateLimits.files) {
      problems.add(`Only ${certificateLimits.files} files with certificates are reported.`)
      break
    }
    for (const name of candidate.names) names.add(name)
    let read: ReadFile | null
    let chains: Chain[] = []
    try {
      read = readCertificateFile(root, candidate.path, candidate.folder)
      if (read === null) {
        if (candidate.isNamed) found.files.push(entry(root, users, candidate, null, missing(root, candidate.path)))
        continue
      }
      const known = seen.get(read.realPath)
      if (known) {
        // The same file by another path, such as the one that a service names.
        for (const one of known) one.references = merged(one.references, candidate.references)
        continue
      }
      chains = candidate.kind === 'traefik' ? traefikChains(read.bytes) : pemChain(read.bytes)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      if (candidate.isNamed || exists(root, candidate.path)) found.files.push(entry(root, users, candidate, null, error.message))
      continue
    }
    if (chains.length === 0 && candidate.isNamed)
      found.files.push(entry(root, users, candidate, read, 'The file contains no certificate.'))
    const entries: AgentCertificateFile[] = []
    for (const chain of chains) {
      const added = [...chain.certificates].filter(([sha256]) => !(sha256 in found.certificates))
      const size = added.reduce((sum, [, base64]) => sum + Math.ceil((base64.length * 3) / 4), 0)
      if (
        bytes + size > maxBytes ||
        Object.keys(found.certificates).length + added.length > maxCertificates ||
        found.files.length >= certificateLimits.files
      ) {
        problems.add('Not all certificates are reported, because there are too many.')
        continue
      }
      bytes += size
      for (const [sha256, base64] of added) found.certificates[sha256] = base64
      for (const name of chain.names) names.add(name)
      const one = entry(root, users, { ...candidate, path: `${candidate.path}${chain.suffix}` }, read, null)
      one.chain = [...chain.certificates.keys()]
      one.key = keyOf(root, users, candidate, read, chain)
      entries.push(one)
      found.files.push(one)
    }
    seen.set(read.realPath, entries)
  }
  return { ...found, names: [...names].slice(0, maxNames), problems: [...problems] }
}

const missing = (root: Root, path: string): string =>
  statSync(root.path(path), { throwIfNoEntry: false })?.isDirectory() ? 'It is a folder.' : 'The file does not exist.'

/** Some are left for those that ports present. */
const maxBytes = certificateLimits.totalBytes - 64 * 1024
const maxCertificates = certificateLimits.certificates - 100

/** Where the private keys of certificates are, by the path of the certificate. Paths have no slash at the start. */
export type KeyPaths = ReadonlyMap<string, string>

function candidatesIn(
  root: Root,
  own: readonly string[],
  keys: KeyPaths,
  unreadable: (path: string, reason: string) => void,
): Candidate[] {
  const found = new Map<string, Candidate>()
  const add = (path: string, more: Partial<Candidate> & Pick<Candidate, 'kind'>): Candidate => {
    const known = found.get(path)
    if (known) return known
    const candidate = {
      path,
      folder: undefined,
      key: null,
      references: new Set<string>(),
      names: new Set<string>(),
      isNamed: false,
    }
    const added = { ...candidate, ...more }
    found.set(path, added)
    return added
  }
  for (const { kind, pattern, folder, keyOf: key, except } of knownPlaces(root) as readonly Place[])
    for (const path of matchingPaths(root, pattern, unreadable))
      if (!except?.test(path)) add(path, { kind, folder, key: key?.(path) ?? null })
  for (const pattern of own)
    for (const path of matchingPaths(root, pattern, unreadable)) {
      const added = add(path, { kind: 'configured', folder: folderOf(pattern), isNamed: !pattern.includes('*') })
      added.key ??= keys.get(path) ?? null
    }
  for (const one of configuredReferences(root))
    for (const path of matchingPaths(root, one.path, unreadable)) refer(add(path, { kind: one.service }), one)
  return [...found.values()]
}

function refer(candidate: Candidate, { service, key, names, path }: Reference): void {
  candidate.key ??= key
  candidate.isNamed ||= !path.includes('*')
  for (const name of names.length > 0 ? names : [null]) {
    candidate.references.add(name === null ? service : `${service}: ${name}`)
    if (name !== null) candidate.names.add(name)
  }
}

/** The part of a pattern before its first wildcard. */
const folderOf = (pattern: string): string => pattern.slice(0, pattern.split('*')[0]!.lastIndexOf('/'))

const kindOf = (path: string): FileKind =>
  path.includes('letsencrypt') ? 'certbot' : path.includes('.acme.sh') ? 'acme_sh' : 'configured'

function entry(
  root: Root,
  users: ReadonlyMap<number, string>,
  { kind, path, references }: Pick<Candidate, 'kind' | 'path' | 'references'>,
  read: ReadFile | null,
  error: string | null,
): AgentCertificateFile {
  const stat = read ?? statOf(root, path)
  return {
    path: nameOf(`/${path}`, certificateLimits.path),
    kind,
    chain: [],
    modified_at: stat?.modifiedAt ?? null,
    mode: stat && modeText(stat.mode),
    owner: stat && ownerOf(users, stat.uid),
    references: merged([], references),
    key: null,
    error,
  }
}

const merged = (before: readonly string[], added: ReadonlySet<string>): string[] =>
  [...new Set([...before, ...[...added].map(one => nameOf(one, 300))])].sort().slice(0, certificateLimits.references)

const modeText = (mode: number): string => mode.toString(8).padStart(4, '0')
const ownerOf = (users: ReadonlyMap<number, string>, uid: number): string => users.get(uid) ?? String(uid)

function statOf(root: Root, path: string): Pick<ReadFile, 'modifiedAt' | 'mode' | 'uid'> | null {
  try {
    const { mtimeMs, mode, uid } = lstatSync(root.path(path))
    return { modifiedAt: storableTime(mtimeMs), mode: mode & 0o7777, uid }
  } catch {
    return null
  }
}

const exists = (root: Root, path: string): boolean => statOf(root, path) !== null

/** The file with the private key, and whether it belongs to the certificate. The key itself is only compared. */
function keyOf(
  root: Root,
  users: ReadonlyMap<number, string>,
  candidate: Candidate,
  read: ReadFile,
  chain: Chain,
): AgentCertificateFile['key'] {
  const inside = chain.keys.length > 0 ? matching(chain.leaf, chain.keys) : null
  if (chain.keys.length > 0)
    return {
      path: nameOf(`/${candidate.path}`, certificateLimits.path),
      mode: modeText(read.mode),
      owner: ownerOf(users, read.uid),
      matches: inside,
    }
  if (candidate.key === null) return null
  const stat = statOf(root, candidate.key)
  if (stat === null) return null
  let file: ReadFile | null = null
  try {
    const { key, folder } = candidate
    // An install profile can name a key elsewhere.
    file = readCertificateFile(root, key, folder !== undefined && key.startsWith(`${folder}/`) ? folder : undefined)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
  }
  return {
    path: nameOf(`/${candidate.key}`, certificateLimits.path),
    mode: modeText(file?.mode ?? stat.mode),
    owner: ownerOf(users, file?.uid ?? stat.uid),
    matches: file && matching(chain.leaf, blocksOf(file.bytes.toString('latin1'), 'PRIVATE KEY')),
  }
}

/** Null if no key can be read, such as with a passphrase. */
function matching(leaf: Uint8Array, keys: readonly string[]): boolean | null {
  let result: boolean | null = null
  for (const key of keys) {
    try {
      if (new X509Certificate(leaf).checkPrivateKey(createPrivateKey(key))) return true
      result = false
    } catch {}
  }
  return result
}

/** PEM blocks whose label ends like this. */
const blocksOf = (text: string, label: string): string[] =>
  text.match(new RegExp(`-----BEGIN (?:[A-Z]+ )*${label}-----[^-]*-----END (?:[A-Z]+ )*${label}-----`, 'g')) ?? []

/** The chain in a PEM file. None in a file without certificates, or with more than a chain has, such as a list of trusted CAs. */
function pemChain(bytes: Buffer, suffix = ''): Chain[] {
  const text = bytes.toString('latin1')
  const parsed = blocksOf(text, 'CERTIFICATE')
    .slice(0, certificateLimits.chain + 1)
    .map(certificateDetails)
    .filter(one => one !== null && one.raw.length <= certificateLimits.certificateBytes)
  const [leaf] = parsed
  if (!leaf || parsed.length > certificateLimits.chain) return []
  return [
    {
      suffix,
      certificates: new Map(parsed.map(one => [one!.sha256, Buffer.from(one!.raw).toString('base64')])),
      names: leaf.names,
      keys: blocksOf(text, 'PRIVATE KEY'),
      leaf: leaf.raw,
    },
  ]
}

/** The chains in an `acme.json` of Traefik: for each resolver, certificates as base64 of PEM. */
function traefikChains(bytes: Buffer): Chain[] {
  let stored: unknown
  try {
    stored = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new Unreadable('It is not valid JSON.')
  }
  return Object.values(Object(stored)).flatMap(resolver => {
    const { Certificates: certificates } = Object(resolver)
    if (!Array.isArray(certificates)) return []
    return certificates.flatMap(one => {
      const { certificate, domain, key } = Object(one)
      if (typeof certificate !== 'string') return []
      const pem = Buffer.from(certificate, 'base64')
      const keys = typeof key === 'string' ? [Buffer.from(key, 'base64').toString('latin1')] : []
      return pemChain(pem, `#${String(Object(domain).main)}`).map(chain => ({ ...chain, keys }))
    })
  })
}
