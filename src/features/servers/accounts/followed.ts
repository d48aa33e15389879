import type { ActionKind } from '../../actions/kind'
import type { Cloud, CloudStorage, VolumeUsage } from '../clouds/cloud'
import type { LabelTable } from '../label-tables'
import type { DatedCatalog } from './catalog'
import type { CloudAccountRow } from './view'

/** An action with its input. */
interface Relabeling {
  action: Pick<ActionKind<Record<string, unknown>>, 'type' | 'area' | 'audit' | 'cancelable' | 'steps'>
  input: Record<string, unknown>
}

/** A volume or snapshot, as far as following it depends on it. */
export interface StoredRow {
  id: string
  workspaceId: string
  name: string
  providerRef: string | null
  state: string
  actionId: string | null
  writtenAt: number
}

/** Whether no action works on it, or has written a newer state than a reading that began then (ms UTC). */
export const isFree = (row: StoredRow, startedAt: number): boolean => row.actionId === null && row.writtenAt < startedAt

/** What is read of an account. */
export interface ReadAccount {
  account: CloudAccountRow
  catalog: DatedCatalog | null
  /** Ids of the servers in the workspace, by their refs. */
  serverIds: ReadonlyMap<string, string>
  /** Ids of the volumes in the workspace, by their refs. */
  volumeIds: ReadonlyMap<string, string>
  /** Of volumes, by ref, as far as the cloud tells it. */
  usage: ReadonlyMap<string, VolumeUsage>
  now: number
}

/** A kind of storage, and how its rows follow what the cloud reports. */
export interface Followed<Row extends StoredRow = any, Seen extends { ref: string; mark: string | null } = any> {
  type: 'snapshot' | 'volume'
  rows: any
  limit: 'snapshots' | 'volumes'
  storage(cloud: Cloud): Pick<CloudStorage<Seen, never>, 'list' | 'get' | 'usage'> | undefined
  /** Labels by which lists find them; absent if they don't. */
  labels?: LabelTable
  /** The columns that follow from a reading. */
  columns(seen: Seen, read: ReadAccount): Partial<Row>
  /** What is recorded if it changed at the cloud. */
  recorded(row: Row): object
  /** The action that stores the labels and the mark of a row at the cloud again; null if they are as they should be. */
  relabeling(row: Row, seen: Seen, kind: string): Relabeling | null
  /** The columns of a new row; null if it is not added. */
  added(seen: Seen, read: ReadAccount): object | null
}
