import { readFileSync, readlinkSync, statSync } from 'node:fs'
import type { AgentCertificates } from '../../wire/agent-certificates'
import { certificateLimits } from '../../wire/agent-limits'
import type { Root } from '../sample/root'
import { listeningTcp, socketProcesses } from '../sample/sockets'
import { writeFile } from '../state/write-file'
import { findCertificateFiles, type FoundFiles, type KeyPaths } from './files'
import { findServed } from './served'

/** What root found for the agent, which is not root. */
interface RootResult extends FoundFiles {
  /** Names of programs by the numbers of their sockets. */
  processes: Record<string, string>
}

/** What `bailiwick-agent certificates` prints. */
export interface CollectedCertificates {
  certificates: AgentCertificates
  problems: string[]
  /** Sockets that don’t use TLS, by their number. They are not asked again until they are opened again. */
  without_tls: string[]
}

/** What root found earlier is used for this time (ms). */
const maxAgeMs = 7 * 3_600_000

interface CollectOptions {
  root: Root
  /** Patterns of own files; null: the owner of the server doesn’t want certificates to be reported. */
  own: readonly string[] | null
  /** The keys of own files. */
  keys?: KeyPaths
  /** File with what root found. */
  resultFile: string
  withoutTls: ReadonlySet<string>
  /** The time (ms UTC). */
  now: number
}

/** Finds the certificates of this server. Files are those that root found, if a unit of systemd runs that part as root. */
export async function collectCertificates({
  root,
  own,
  keys,
  resultFile,
  withoutTls,
  now,
}: CollectOptions): Promise<CollectedCertificates> {
  const nothing = { certificates: { files: [], served: [], certificates: [] }, problems: [], without_tls: [] }
  if (own === null) return nothing
  const found = resultIn(resultFile, now) ?? findAsUser(root, own, keys)
  const seen = sharesNetwork(root) ? await findServed(root, found.names, found.processes, withoutTls) : null
  const all = { ...found.certificates }
  const problems = [...found.problems, ...(seen?.problems ?? [])]
  let bytes = Object.values(all).reduce((sum, one) => sum + one.length * 0.75, 0)
  for (const [sha256, base64] of Object.entries(seen?.certificates ?? {})) {
    if (sha256 in all) continue
    if (
      bytes + base64.length * 0.75 > certificateLimits.totalBytes ||
      Object.keys(all).length >= certificateLimits.certificates
    ) {
      problems.push('Not all certificates of ports are reported, because there are too many.')
      break
    }
    bytes += base64.length * 0.75
    all[sha256] = base64
  }
  const served = (seen?.served ?? []).filter(one => one.chain.every(sha256 => sha256 in all))
  return {
    certificates: { files: found.files, served, certificates: Object.values(all) },
    problems: [...new Set(problems)],
    without_tls: seen?.withoutTls ?? [],
  }
}

/** Reads the files as root, and stores what it found for the agent. No private key is stored. */
export function storeForAgent(root: Root, own: readonly string[] | null, resultFile: string, keys?: KeyPaths): void {
  const result: RootResult =
    own === null ? { files: [], certificates: {}, names: [], problems: [], processes: {} } : findAsUser(root, own, keys)
  writeFile(resultFile, JSON.stringify(result), { mode: 0o644 })
}

function findAsUser(root: Root, own: readonly string[], keys?: KeyPaths): RootResult {
  const processes = Object.fromEntries(socketProcesses(root, listeningTcp(root) ?? []))
  return { ...findCertificateFiles(root, own, keys), processes }
}

/** Null if there is none, or it is too old. */
function resultIn(file: string, now: number): RootResult | null {
  try {
    if (Math.abs(now - statSync(file).mtimeMs) > maxAgeMs) return null
    return JSON.parse(readFileSync(file, 'utf8')) as RootResult
  } catch {
    return null
  }
}

/** Whether the ports of the server can be reached on the loopback addresses of this program. */
function sharesNetwork(root: Root): boolean {
  if (root.isOwn) return true
  try {
    return root.link('proc/1/ns/net') === readlinkSync('/proc/self/ns/net')
  } catch {
    return false
  }
}
