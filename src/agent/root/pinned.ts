import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPublicKeyText } from '../../wire/request-signature'
import { writeFile } from '../state/write-file'

/** Which hub may command which agent. Only root writes it, when the agent is enrolled: the agent can change its own files. */
interface Pinned {
  agentId: string
  /** As in `publicKeyText`. */
  hubKey: string
}

/** The file, in the folder of the settings. */
export const pinnedBeside = (configFile: string): string => join(dirname(configFile), 'hub.json')

/** @throws Error with a sentence */
export function readPinned(path: string): Pinned {
  let value: unknown
  try {
    const { uid, mode } = statSync(path)
    if (uid !== 0 && uid !== process.getuid?.()) throw new Error(`${path} must belong to root.`)
    if ((mode & 0o022) !== 0) throw new Error(`${path} can be written by other users. Run chmod go-w ${path}.`)
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error(`${path} does not exist, so it is not known which hub may send commands. Enrol the agent again as root.`, {
        cause: error,
      })
    throw error
  }
  const { agent_id: agentId, hub_key: hubKey } = (value ?? {}) as Record<string, unknown>
  if (typeof agentId !== 'string' || typeof hubKey !== 'string' || !isPublicKeyText(hubKey))
    throw new Error(`${path} does not contain the ID of the agent and the key of the hub.`)
  return { agentId, hubKey }
}

/** Pins the hub of a newly enrolled agent. To be called by root. */
export function writePinned(path: string, { agentId, hubKey }: Pinned): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  writeFile(path, `${JSON.stringify({ agent_id: agentId, hub_key: hubKey }, null, 2)}\n`, { mode: 0o644, durable: true })
}
