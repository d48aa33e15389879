import { sha256Hex } from '../../core/crypto'
import type { DnsRecordView } from './record-shapes'

// Longer than any DKIM key. What has more would fill the audit log, two or three times over with each edit.
const longest = 2048
const begins = 512

/** A record as the audit log has it: of a long value how it begins, how long it is, and what tells it from others. */
export function toldRecord(view: DnsRecordView): DnsRecordView {
  if (view.content.length <= longest) return view
  const cut = `${view.content.slice(0, begins)}… (${view.content.length} characters, SHA-256 ${sha256Hex(view.content)})`
  return { ...view, content: cut, fields: {}, value: null }
}
