import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentStatus } from '../agent'
import { isRecord } from '../transport/answers'
import { readJson } from './identity'
import { writeFile } from './write-file'

/** What the agent does now, for `bailiwick-agent status`. Times in ms UTC. */
interface StatusFile extends AgentStatus {
  pid: number
  version: string
  hub: string
  agent_id: string
  server_id: string
  started_at: number
}

const pathIn = (runtimeFolder: string) => join(runtimeFolder, 'status.json')

/** Without a folder for it, there is no status. */
export function writeStatus(runtimeFolder: string, status: StatusFile): void {
  try {
    mkdirSync(runtimeFolder, { recursive: true, mode: 0o755 })
    writeFile(pathIn(runtimeFolder), `${JSON.stringify(status, null, 2)}\n`)
  } catch {}
}

/** The status of the agent that runs now; null if none does. */
export function readStatus(runtimeFolder: string): StatusFile | null {
  const status = readJson(pathIn(runtimeFolder))
  if (!isRecord(status) || typeof status.pid !== 'number') return null
  return isRunning(status.pid) ? (status as unknown as StatusFile) : null
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
