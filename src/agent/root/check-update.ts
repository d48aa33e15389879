import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RootFolders } from './folders'
import type { System } from './system'
import { hasBegunHere, readUpdate, writeUpdate, type Update } from './update-file'
import { currentVersion, previousName, useVersion, versionFolder } from './versions'

/** Set by builds for tests. */
declare const BUILD_REPORT_SECONDS: number | undefined

/** The new version must have reported to the hub this soon after it was started (ms). */
export const reportMs = 1000 * (typeof BUILD_REPORT_SECONDS === 'number' ? BUILD_REPORT_SECONDS : 120)
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
  /** Version of the running agent whose report the hub has acknowledged; null if it has acknowledged none. */
  reportingVersion: () => string | null
  /** Waits (ms). */
  pause: (ms: number) => Promise<unknown>
}

/**
 * Starts the new version of the agent, and undoes the update unless the hub acknowledges a report of it in time. The version before the
 * update runs this, so it does not depend on the new one. Does nothing if no update is being checked. It can be interrupted at any time
 * and run again. After a restart of the server, the update is undone: the new version may be the reason.
 */
export async function checkUpdate({ folders, system, reportingVersion, pause }: CheckPieces): Promise<void> {
  const update = readUpdate(folders)
  if (update?.state !== 'checking') return
  const { from, version } = update
  if (!hasBegunHere(folders, update))
    return await undo(system, folders, update, `The server restarted before version ${version} had reported.`)
  if (currentVersion(folders.programs) === from) {
    await pause(resultMs)
    useVersion(folders.programs, version)
    await restart(system)
  }
  for (let waited = 0; waited < reportMs; waited += pollMs) {
    if (reportingVersion() === version) return await keep(system, folders, update)
    await pause(pollMs)
  }
  await undo(
    system,
    folders,
    update,
    `The hub did not receive a report of version ${version} within ${reportMs / 1000} seconds after it was started.`,
  )
}

/** In this order, so that it is complete if it is interrupted and run again. */
async function undo(system: System, { programs, state }: RootFolders, update: Update, detail: string): Promise<void> {
  useVersion(programs, update.from)
  writeUpdate({ state }, { ...update, state: 'rolled_back', detail })
  // It may not run at all, or be waiting to be started again.
  await restart(system)
  rmSync(versionFolder(programs, update.version), { recursive: true, force: true })
}

async function keep(system: System, { programs, state }: RootFolders, update: Update): Promise<void> {
  writeUpdate({ state }, { ...update, state: 'updated' })
  const kept = [update.from, update.version, previousName]
  for (const name of readdirSync(programs.folder))
    if (!kept.includes(name)) rmSync(join(programs.folder, name), { recursive: true, force: true })
  await system.run([programs.link, 'units'], { withoutJit: true })
}

async function restart(system: System): Promise<void> {
  await system.run(['systemctl', 'reset-failed', service])
  await system.run(['systemctl', 'restart', service], { timeoutMs: restartMs })
}
