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
