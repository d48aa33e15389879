import type { ServerFactView, ServerStatus, ServerView } from '../../../features/servers/shapes'
import type { Tone } from '../../parts/status'

/** Paths that change with a server. */
export const invalidates = ['/servers', '/cloud-accounts', '/actions', '/overview']

export type Verb = ServerView['actions'][number]['action']

const tones: Partial<Record<ServerStatus, Tone>> = {
  running: 'ok',
  off: 'idle',
  draft: 'idle',
  deleted: 'idle',
  suspended: 'idle',
  unknown: 'idle',
  error: 'bad',
  missing: 'bad',
}

/** The tone of a status. While a server changes, it is busy. */
export const toneOfServer = (status: ServerStatus): Tone => tones[status] ?? 'busy'

export const kindTitles: Readonly<Record<ServerView['kind'], string>> = {
  vm: 'Virtual machine',
  container: 'Container',
  bare_metal: 'Bare metal',
  external: 'External',
}

export const originTitles: Readonly<Record<ServerView['origin'], string>> = {
  made: 'Created here',
  found: 'Found in a cloud account',
  added: 'Added manually',
}

export const verbTitles: Readonly<Record<Verb, string>> = {
  provision: 'Create at cloud',
  power_on: 'Power on',
  power_off: 'Power off',
  shutdown: 'Shut down',
  reboot: 'Reboot',
  power_cycle: 'Power cycle',
  suspend: 'Suspend',
  resume: 'Resume',
  rename: 'Rename',
  resize: 'Resize',
  rebuild: 'Rebuild',
  set_protection: 'Change protection',
  set_labels: 'Store labels',
  enable_rescue: 'Enable rescue mode',
  disable_rescue: 'Disable rescue mode',
  enable_backups: 'Enable backups',
  disable_backups: 'Disable backups',
  delete: 'Delete',
  snapshot: 'Create snapshot',
  restore_snapshot: 'Restore snapshot',
  restart_unit: 'Restart unit',
  collect: 'Collect data now',
  update_agent: 'Update agent',
}

/** Where facts come from. */
export const sourceTitles: Readonly<Record<ServerFactView['source'], string>> = {
  cloud: 'Cloud',
  agent: 'Agent',
  controller: 'Controller',
  monitor: 'Monitor',
  action: 'Action',
  manual: 'Entered',
}

/** Labels as text: `role=web, tier=gold`. */
export const labelsText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')

/** Parses labels as text. */
export const labelsFrom = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(/[\s,]+/)
      .filter(word => word !== '')
      .map(word => {
        const at = word.indexOf('=')
        return at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
      }),
  )
