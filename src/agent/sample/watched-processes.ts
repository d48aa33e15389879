import type { AgentReport } from '../../wire/agent'
import type { Root } from './root'

type Processes = NonNullable<AgentReport['processes']>

/** Reading the name of each process of a server that has more would use too much CPU time. */
const maxProcesses = 5000
/** The kernel stores this much of a name (`TASK_COMM_LEN`). */
const maxNameLength = 15

/** How many processes have each of these names; null if processes can’t be counted. */
export function countProcesses(root: Root, names: readonly string[], problem: (sentence: string) => void): Processes | null {
  if (names.length === 0) return []
  const ids = root.names('proc').filter(name => /^\d+$/.test(name))
  // The kernel can hide processes of other users (hidepid in proc(5)).
  if (!ids.includes('1') || ids.length > maxProcesses) {
    const why = ids.includes('1') ? `there are more than ${maxProcesses}` : '/proc hides those of other users'
    problem(`Watched processes are not counted, because ${why}.`)
    return null
  }
  const counts = new Map<string, number>()
  for (const id of ids) {
    const name = root.start(`proc/${id}/comm`, 64)?.toString('utf8').trimEnd()
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return names.map(name => ({ name, count: counts.get(kernelName(name)) ?? 0 }))
}

const kernelName = (name: string): string => Buffer.from(name).subarray(0, maxNameLength).toString('utf8')
