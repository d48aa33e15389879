import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RootFolders } from './folders'
import type { System } from './system'
import { forgetBegun, hasBegunHere, readUpdate, writeUpdate, type Update } from './update-file'
import { currentVersion, previousName, useVersion, versionFolder } from './versions'

/** Set by builds for tests. */
declare const BUILD_REPORT_SECONDS: string | undefined

/** The new version must have reported to the hub this soon after it was started (ms). */
export const reportMs = 1000 * (typeof BUILD_REPORT_SECONDS === 'undefined' ? 120 : Number(BUILD_REPORT_SECONDS))
/** The result of the command must reach the hub before the agent stops (ms). */
const resultMs = 3000
const pollMs = 500
/** The agent stops within 20 seconds. */
const restartMs = 60_000

const service = 'bailiwick-agent.service'

/** What the check of an update works with. */
interface CheckPieces {
  folders: RootFolders
  system: System
  /** The agent that is running: its version, and whether the hub has acknowledged a report of it; null if none is running. */
  running: () => { version: string; hasReported: boolean } | null
  /** Waits (ms). */
  pause: (ms: number) => Promise<unknown>
}

/**
 * Starts the new version of the agent, and undoes the update unless the hub acknowledges a report of it in time. The version before the
 * update runs this, so it does not depend on the new one. Does nothing if no update is being checked. It can be interrupted at any time
 * and run again. After a restart of the server, the update is undone: the new version may be the reason.
 * @returns what could not be done
 */
export async function checkUpdate({ folders, system, running, pause }: CheckPieces): Promise<string | null> {
  const update = readUpdate(folders)
  if (update?.pending) return await finish(system, folders, update)
  if (update?.state !== 'checking') return null
  const { from, version } = update
  if (!hasBegunHere(folders, update))
    return await undo(system, folders, update, `The server restarted before version ${version} had reported.`)
  if (currentVersion(folders.programs) === from) {
    await pause(resultMs)
    useVersion(folders.programs, version)
  }
  if (running()?.version !== version) await restart(system)
  for (let waited = 0; waited < reportMs; waited += pollMs) {
    const now = running()
    if (now?.version === version && now.hasReported) return await keep(system, folders, update)
    await pause(pollMs)
  }
  return await undo(
    system,
    folders,
    update,
    `The hub did not receive a report of version ${version} within ${reportMs / 1000} seconds after it was started.`,
  )
}

/** In this order, so that it is complete if it is interrupted and run again. */
async function undo(system: System, folders: RootFolders, update: Update, detail: string): Promise<string | null> {
  // If it is interrupted now, it is undone the next time, too.
  forgetBegun(folders)
  useVersion(folders.programs, update.from)
  const undone: Update = { ...update, state: 'rolled_back', detail, pending: 'restart' }
  try {
    writeUpdate(folders, undone)
  } catch (error) {
    // The disk is full, perhaps because of the new version. What is not stored now is stored the next time.
    await finishUndo(system, folders, update)
    return `The result of the update could not be stored: ${(error as Error).message}`
  }
  return await finish(system, folders, undone)
}

async function keep(system: System, folders: RootFolders, update: Update): Promise<string | null> {
  const kept: Update = { ...update, state: 'updated', pending: 'units' }
  writeUpdate(folders, kept)
  return await finish(system, folders, kept)
}

/** Does what is pending. If that fails, it is done when the server starts the next time. @returns what failed */
async function finish(system: System, folders: RootFolders, { pending, ...update }: Update): Promise<string | null> {
  const { programs } = folders
  if (pending === 'restart') {
    await finishUndo(system, folders, update)
  } else {
    const needed = [update.from, update.version, previousName]
    for (const name of readdirSync(programs.folder))
      if (!needed.includes(name)) rmSync(join(programs.folder, name), { recursive: true, force: true })
    const { isSuccess, output } = await system.run([programs.link, 'units'], { withoutJit: true })
    if (!isSuccess) return `The units of version ${update.version} could not be written: ${output}`
  }
  writeUpdate(folders, update)
  return null
}

async function finishUndo(system: System, { programs }: RootFolders, { version }: Pick<Update, 'version'>): Promise<void> {
  // The agent may not run at all, or be waiting to be started again.
  await restart(system)
  rmSync(versionFolder(programs, version), { recursive: true, force: true })
}

async function restart(system: System): Promise<void> {
  await system.run(['systemctl', 'reset-failed', service])
  await system.run(['systemctl', 'restart', service], { timeoutMs: restartMs })
}
