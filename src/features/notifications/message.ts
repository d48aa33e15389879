import type { Severity } from '../../core/notices'

/** Name of the fact with the address that was checked. */
export const addressFact = 'Address'

/** A message to people, independent of the channel type. */
export interface Message {
  /** What happened: `incident.opened`, `incident.resolved`, `incident.reminder`, `monitor.flapping`, a kind of notice, `test`. */
  kind: string
  /** `problem` needs attention, `recovery` ends the problem of the same thread, `information` needs no action. */
  state: 'problem' | 'recovery' | 'information'
  severity: Severity
  /** One line, without the product name. */
  title: string
  /** One or two sentences of plain text. */
  text: string
  /** Name and value, one line each, most important first. */
  facts: readonly (readonly [name: string, value: string])[]
  /** Dashboard page with details. */
  link: string | null
  /** Page that acknowledges without signing in. Each channel gets it with its own signature (acknowledge-link.ts). */
  acknowledgeLink: string | null
  /** Groups the messages of one incident or notice: its id. */
  thread: string
  resource: { type: string; id: string; name: string | null } | null
  tags: readonly string[]
  /** ms UTC */
  occurredAt: number
  /** When the problem started, if the facts mention it (ms UTC). */
  since?: number
}
