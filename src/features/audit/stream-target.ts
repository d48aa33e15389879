import { target } from '../../core/audit'
import type { StreamRow } from './stream-view'

/** A stream as the audit log names it. */
export const streamTarget = (row: Pick<StreamRow, 'id' | 'name'>) => target('audit_stream', row)
