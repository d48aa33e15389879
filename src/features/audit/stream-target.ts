import { target } from '../../core/audit'
import type { StreamRow } from './stream-view'

/** A stream as the target of audit events. */
export const streamTarget = (row: Pick<StreamRow, 'id' | 'name'>) => target('audit_stream', row)
