import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentReport, updateStates } from '../../wire/agent'
import { isVersion } from '../../wire/agent-version'
import { isRecord } from '../transport/answers'
import { readJson } from '../state/identity'
import { writeFile } from '../state/write-file'
import type { RootFolders } from './folders'

/** The last update of the agent, as root stores it. */
export interface Update {
  /** Command of the hub. */
  command_id: string
  /** The versions before and after it. */
  from: string
  version: string
  state: (typeof updateStates)[number]
  /** Why it was undone; null unless it was. */
  detail: string | null
  /** What is still to be done: to restart the agent, or to write the units of the new version. */
  pending?: 'restart' | 'units'
}

type Folders = Pick<RootFolders, 'state'>

/** The file, which only root can write. */
export const updateFile = ({ state }: Folders): string => join(state, 'update.json')

/** The last update; null if there was none. */
export function readUpdate(folders: Folders): Update | null {
  const read = readJson(updateFile(folders))
  return isRecord(read) && isVersion(read.from) && isVersion(read.version) ? (read as unknown as Update) : null
}

/** It is on disk when this returns. */
export const writeUpdate = (folders: Folders, update: Update): void =>
  writeFile(updateFile(folders), `${JSON.stringify(update, null, 2)}\n`, { mode: 0o644, durable: true })

/** The last update as the agent reports it; undefined if there was none. */
export function reportedUpdate(folders: Folders): AgentReport['update'] {
  const update = readUpdate(folders)
  if (!update) return undefined
  const { command_id, version, state, detail } = update
  return { command_id, version, state, detail }
}

/** It contains the command of the update that is being checked, and is gone after a restart of the server. */
const sessionFile = ({ runtime }: Pick<RootFolders, 'runtime'>): string => join(runtime, 'update-command')

/** Notes that an update began after the server started. */
export const markBegun = (folders: Pick<RootFolders, 'runtime'>, { command_id: id }: Update): void =>
  writeFile(sessionFile(folders), id, { mode: 0o644 })

/** As if the server had restarted since the update began. */
export const forgetBegun = (folders: Pick<RootFolders, 'runtime'>): void => rmSync(sessionFile(folders), { force: true })

/** Whether the server has not restarted since an update began. In containers, the ID of the boot can be the one of the host. */
export function hasBegunHere(folders: Pick<RootFolders, 'runtime'>, { command_id: id }: Update): boolean {
  try {
    return readFileSync(sessionFile(folders), 'utf8') === id
  } catch {
    return false
  }
}
