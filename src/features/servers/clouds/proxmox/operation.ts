import type { ServerOrder } from '../cloud'

/** What is done to a guest, in this order. All steps look at its state first, so that each can be repeated. */
export type Step = 'clone' | 'configure' | 'size' | 'grow' | 'delete' | StatusStep | SnapshotStep

/** Steps that change whether a guest runs, as in paths. */
export type StatusStep = 'start' | 'stop' | 'shutdown' | 'reboot' | 'reset' | 'suspend' | 'resume'

/** Steps that work on a snapshot. */
export type SnapshotStep = 'snapshot' | 'rollback' | 'delsnapshot'

/** A command that Proxmox works on, as stored between two polls. */
export interface ProxmoxOperation {
  vmid: number
  /** The remaining steps. The first one is in progress if there is a task. */
  steps: readonly Step[]
  /** Id of the task that runs, or null. */
  task: string | null
  /** Parameters of the first step. */
  parameters?: Record<string, number>
  /** What to create; absent for other commands. */
  order?: CreationOrder
  /** The snapshot of snapshot steps. */
  snapshot?: { name: string; description: string; includesMemory: boolean }
  /** The mark of the guest to delete, or null: its VMID can be used again by another one while this is in progress. */
  mark?: string | null
  /** Size that it will have. */
  size?: { cores: number; memoryBytes: number; diskBytes: number }
}

/** The parts of an order that creating a guest needs. */
export type CreationOrder = Pick<
  ServerOrder,
  'mark' | 'name' | 'image' | 'location' | 'labels' | 'networks' | 'enableIpv4' | 'enableIpv6'
> & { sshKeys: string[] }

/** The node of a task: `UPID:node:…`. */
export const nodeOfTask = (upid: string): string => upid.split(':')[1] ?? ''
