import { rowsOf } from '../../../registry'
import { volumes } from './tables'

export type VolumeRow = typeof volumes.$inferSelect

export const volumeRows = rowsOf('volume', volumes, { accessTo: row => row.serverId })
