import { closeSync, openSync, readSync } from 'node:fs'
import type { Figures } from './figures'
import type { Root } from './root'

/** Reading each process of a server that has more would use too much CPU time. */
const maxProcesses = 2000

/** Processes: how many there are, and how many have ended without their parent noticing. */
export function processes(root: Root, problem: (sentence: string) => void): Figures {
  const ids = root.names('proc').filter(name => /^\d+$/.test(name))
  // The kernel can hide processes of other users (hidepid in proc(5)).
  if (!ids.includes('1')) {
    problem('Processes can’t be counted, because /proc hides those of other users.')
    return {}
  }
  if (ids.length > maxProcesses) {
    problem(`Zombies are not counted, because there are more than ${maxProcesses} processes.`)
    return { 'processes.count': ids.length }
  }
  const zombies = ids.filter(id => stateIn(root.start(`proc/${id}/stat`, 128)?.toString('latin1') ?? '') === 'Z').length
  return { 'processes.count': ids.length, 'processes.zombies': zombies }
}

/** The state of a process in `/proc/PID/stat`. The name of the program before it can contain spaces and parentheses. */
const stateIn = (stat: string): string | undefined => stat.slice(stat.lastIndexOf(')') + 2)[0]

const chunkBytes = 32 * 1024

/**
 * Sockets that listen for TCP connections. They precede the connections in `/proc/net/tcp`, so that a million of those are not read.
 * Undefined if the file can’t be read.
 */
export function listening(root: Root): number | undefined {
  const counts = ['tcp', 'tcp6'].map(file => countListening(root.path(`${root.network}/${file}`)))
  return counts[0] === undefined ? undefined : counts[0] + (counts[1] ?? 0)
}

function countListening(path: string): number | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    let count = 0
    let rest = ''
    for (let read; (read = readSync(file, chunk, 0, chunkBytes, null)) > 0;) {
      const lines = (rest + chunk.toString('latin1', 0, read)).split('\n')
      rest = lines.pop()!
      for (const line of lines) {
        const state = /^\s*\d+: \S+ \S+ ([0-9A-F]{2}) /.exec(line)?.[1]
        if (state === '0A') count++
        else if (state !== undefined) return count
      }
    }
    return count
  } catch {
    return undefined
  } finally {
    closeSync(file)
  }
}
