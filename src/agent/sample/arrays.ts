import type { AgentReport } from '../../wire/agent'
import { nameOf } from './line'
import type { Root } from './root'

type DiskArray = NonNullable<AgentReport['arrays']>[number]

const maxArrays = 64

/** Linux software RAID in `/proc/mdstat`, and pools of ZFS. */
export function readArrays(root: Root): DiskArray[] {
  const pools = root
    .names('proc/spl/kstat/zfs')
    .sort()
    .flatMap((name): DiskArray[] => {
      const state = root.line(`proc/spl/kstat/zfs/${name}/state`)
      return state === null
        ? []
        : [{ name: nameOf(name, 100), kind: 'zfs', state: nameOf(state, 50), degraded: state !== 'ONLINE' }]
    })
  return [...softwareRaid(root.text('proc/mdstat') ?? ''), ...pools].slice(0, maxArrays)
}

/** `/proc/mdstat`: a line with the state and devices of each array, followed by indented lines (md(4)). */
export function softwareRaid(mdstat: string): DiskArray[] {
  return [...mdstat.matchAll(/^(md\S*) : (\S+)(.*(?:\n[ \t]+.*)*)/gm)].map(([, name, state, rest]) => {
    const [, wanted, present] = /\[(\d+)\/(\d+)\]/.exec(rest!) ?? []
    const [, work] = /\b(recovery|resync|reshape|check) *=/.exec(rest!) ?? []
    // A container of firmware RAID is never active itself.
    const isBroken = state === 'inactive' && !rest!.includes('super external:')
    return {
      name: nameOf(name, 100),
      kind: 'md',
      state: nameOf(work === undefined ? state : `${state}, ${work}`, 50),
      degraded: isBroken || (wanted !== undefined && Number(present) < Number(wanted)) || /\][^\n]*\(F\)/.test(rest!),
    }
  })
}
