import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../../core/clock'
import { collectCertificates, storeForAgent } from '../certificates/collect'
import { configFile, readConfigFile, type AgentSettings } from '../config-file'
import { requireRoot } from '../install/system'
import { rootFolders } from '../root/folders'
import { Root } from '../sample/root'
import { storeSocketProcesses } from '../sample/sockets'
import type { Flags, Print } from './arguments'

/** Prints the certificates of this server as they are reported. The service runs this too, so that it needs no memory in between. */
export async function certificates({ config = configFile, 'without-tls': skipped }: Flags, { out }: Print): Promise<number> {
  const settings = readConfigFile(config)
  const found = await collectCertificates({
    root: new Root(settings.root),
    own: ownPatterns(settings.certificates),
    keys: installedKeys(settings),
    resultFile: rootFolders(settings).certificates,
    withoutTls: new Set(skipped?.split(',')),
    now: systemClock.now(),
  })
  out(`${JSON.stringify(found, null, skipped === undefined ? 2 : 0)}\n`)
  return 0
}

/** Reads the files with certificates and the programs of sockets as root, and stores what is reported of them for the agent. */
export function readCertificates({ config = configFile }: Flags): number {
  requireRoot('read-certificates')
  const settings = readConfigFile(config)
  const { certificates: file, processes } = rootFolders(settings)
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
  const root = new Root(settings.root)
  storeSocketProcesses(root, processes)
  storeForAgent(root, ownPatterns(settings.certificates), file, installedKeys(settings))
  return 0
}

const withoutSlash = (path: string): string => path.replace(/^\/+/, '')

/** Paths without the slash at the start. */
const ownPatterns = (patterns: readonly string[] | null): string[] | null => patterns && patterns.map(withoutSlash)

/** Where install profiles have the keys of their certificates. */
const installedKeys = ({ installProfiles }: AgentSettings): Map<string, string> =>
  new Map([...installProfiles.values()].map(one => [withoutSlash(one.certificate), withoutSlash(one.key)]))
