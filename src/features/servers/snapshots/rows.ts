import { rowsOf } from '../../../registry'
import { snapshots } from './tables'

export type SnapshotRow = typeof snapshots.$inferSelect

export const snapshotRows = rowsOf('snapshot', snapshots, { accessTo: row => row.serverId })
