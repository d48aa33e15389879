import type { Severity } from '../../core/notices'

/** What the hub has to say to people, before it takes the form of a channel. */
export interface Message {
  /** What happened, for filters: `incident.opened`, `incident.resolved`, `incident.reminder`, `monitor.flapping`, a kind of notice, `test`. */
  kind: string
  /** `problem` calls for somebody, `recovery` ends what a problem of the same thread began, the rest only tells. */
  state: 'problem' | 'recovery' | 'information'
  severity: Severity
  /** One line, without the name of the program. */
  title: string
  /** A sentence or two; plain text. */
  text: string
  /** Facts, in the order in which they matter: name and value, each one line. */
  facts: readonly (readonly [name: string, value: string])[]
  /** Where to read on, in the hub. */
  link: string | null
  /** The page where it is acknowledged without a login; each channel is sent it with a signature of its own (acknowledge-link.ts). */
  acknowledgeLink: string | null
  /** Messages of one matter belong together: the id of the incident, the matter of a notice. */
  thread: string
  resource: { type: string; id: string; name: string | null } | null
  tags: readonly string[]
  /** ms UTC */
  occurredAt: number
  /** When what it tells of began, where its facts tell that (ms UTC). */
  since?: number
}
