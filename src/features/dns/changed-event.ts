import type { EventDraft } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { EventData } from '../../core/events'
import type { RrsetOptions } from './providers/provider'
import { fqdnOf } from './zone-names'

type Told = EventData<'dns.records_changed'>
export type ChangeOrigin = Told['origin']

/** A record at one moment; `options` only where it has any. */
export interface RecordForm {
  /** Seconds. */
  ttl: number
  content: string
  options?: RrsetOptions
}

/** What became of one record. */
export interface RecordChange {
  action: 'created' | 'updated' | 'deleted'
  /** Null where it is not kept here. */
  recordId: string | null
  type: string
  /** Below the zone, `@` for the apex. */
  name: string
  before: RecordForm | null
  after: RecordForm | null
}

// A message has 64 KiB with all of it; this leaves room for the zone, the actor and what stands around them.
const mostOctets = 56 * 1024

/** The origin of what a caller asked for himself. */
export const originOfCaller = (ctx: Ctx): ChangeOrigin => (ctx.context.channel === 'dashboard' ? 'dashboard' : 'api')

/** One event for a set of changes. */
export function changedEvent(
  ctx: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  zone: { id: string; name: string },
  origin: ChangeOrigin,
  changes: readonly RecordChange[],
  changeCount = changes.length,
): EventDraft {
  const shown: Told['changes'] = []
  let octets = 0
  for (const one of changes) {
    const told = changeTold(zone.name, one)
    octets += Buffer.byteLength(JSON.stringify(told)) + 1
    if (octets > mostOctets) break
    shown.push(told)
  }
  const { type, id, name } = ctx.actor
  return {
    workspaceId: ctx.workspaceId,
    kind: 'dns.records_changed',
    resource: { type: 'zone', id: zone.id },
    data: {
      zone: { id: zone.id, name: zone.name },
      origin,
      actor: origin === 'external' || type === 'anonymous' ? null : { type, id, name },
      changed_at: instant(ctx.hub.clock.now()),
      changes: shown,
      change_count: changeCount,
      truncated: shown.length < changeCount,
    },
  }
}

const changeTold = (zoneName: string, one: RecordChange): Told['changes'][number] => ({
  action: one.action,
  record_id: one.recordId,
  type: one.type,
  name: one.name,
  fqdn: fqdnOf(one.name, zoneName),
  before: one.before,
  after: one.after,
})
