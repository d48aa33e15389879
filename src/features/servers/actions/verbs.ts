import type { ServerVerb } from '../clouds/cloud'
import type { ServerStatus } from '../shapes'

interface VerbRule {
  /** Statuses in which it is possible. */
  possibleIn: readonly ServerStatus[]
  /** Statuses in which there is nothing to do. */
  alreadyIn: readonly ServerStatus[]
  /** Status while it runs; null if the server keeps its status. */
  passing: ServerStatus | null
  /** Statuses in which it has succeeded, if the cloud doesn't report it; null if the status doesn't show it. */
  endsIn: readonly ServerStatus[] | null
  /** Milliseconds until it times out. */
  limitMs: number
  /** Whether it can be sent again if it is not known whether it was carried out. */
  isRepeatable: boolean
  /** Whether the server is down while it runs, so that nothing is concluded about its health. */
  takesDown: boolean
}

const alive: readonly ServerStatus[] = ['running', 'off', 'suspended', 'error', 'unknown']
const minute = 60_000

const plain = (more: Partial<VerbRule> = {}): VerbRule => ({
  possibleIn: alive,
  alreadyIn: [],
  passing: null,
  endsIn: null,
  limitMs: 5 * minute,
  isRepeatable: true,
  takesDown: false,
  ...more,
})

/** How each action moves a server from status to status. */
export const verbRules: Readonly<Record<ServerVerb, VerbRule>> = {
  provision: plain({
    possibleIn: ['draft'],
    passing: 'provisioning',
    endsIn: ['running', 'off'],
    limitMs: 60 * minute,
    isRepeatable: false,
    takesDown: true,
  }),
  power_on: plain({
    possibleIn: ['off', 'suspended', 'error', 'unknown'],
    alreadyIn: ['running'],
    passing: 'starting',
    endsIn: ['running'],
  }),
  power_off: plain({
    possibleIn: ['running', 'suspended', 'error', 'unknown'],
    alreadyIn: ['off'],
    passing: 'stopping',
    endsIn: ['off'],
    takesDown: true,
  }),
  shutdown: plain({
    possibleIn: ['running', 'unknown'],
    alreadyIn: ['off'],
    passing: 'stopping',
    endsIn: ['off'],
    takesDown: true,
  }),
  reboot: plain({
    possibleIn: ['running', 'unknown'],
    passing: 'rebooting',
    endsIn: ['running'],
    isRepeatable: false,
    takesDown: true,
  }),
  power_cycle: plain({
    possibleIn: ['running', 'error', 'unknown'],
    passing: 'rebooting',
    endsIn: ['running'],
    isRepeatable: false,
    takesDown: true,
  }),
  suspend: plain({ possibleIn: ['running'], alreadyIn: ['suspended'], endsIn: ['suspended'], takesDown: true }),
  resume: plain({ possibleIn: ['suspended'], alreadyIn: ['running'], endsIn: ['running'] }),
  rename: plain(),
  resize: plain({ passing: 'resizing', endsIn: ['running', 'off'], limitMs: 60 * minute, takesDown: true }),
  rebuild: plain({
    passing: 'rebuilding',
    endsIn: ['running', 'off'],
    limitMs: 30 * minute,
    isRepeatable: false,
    takesDown: true,
  }),
  set_protection: plain(),
  set_labels: plain(),
  enable_rescue: plain(),
  disable_rescue: plain(),
  enable_backups: plain(),
  disable_backups: plain(),
  delete: plain({ passing: 'deleting', limitMs: 30 * minute, takesDown: true }),
  snapshot: plain({ possibleIn: ['running', 'off', 'suspended'], limitMs: 360 * minute }),
  restore_snapshot: plain({
    possibleIn: ['running', 'off', 'suspended', 'error'],
    passing: 'restoring',
    endsIn: ['running', 'off', 'suspended'],
    limitMs: 360 * minute,
    isRepeatable: false,
    takesDown: true,
  }),
  restart_unit: plain({ possibleIn: ['running', 'unknown'], limitMs: 15 * minute }),
  collect: plain({ possibleIn: ['running', 'unknown'], limitMs: 15 * minute }),
  update_agent: plain({ possibleIn: ['running', 'unknown'], limitMs: 20 * minute }),
}

/** How long an action may take, in milliseconds. */
export function limitOf({ verb, command }: { verb: ServerVerb; command: object | null }): number {
  const { timeoutSeconds = 0 } = (command ?? {}) as { timeoutSeconds?: number }
  return verbRules[verb].limitMs + timeoutSeconds * 1000
}
