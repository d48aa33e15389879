import type { EventDraft } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { EventData } from '../../../core/event-kinds'
import type { RrsetOptions } from '../providers/provider'
import { fqdnOf } from '../zones/names'

type Payload = EventData<'dns.records_changed'>
export type ChangeOrigin = Payload['origin']

/** State of a record; `options` only if it has any. */
export interface RecordState {
  /** Seconds. */
  ttl: number
  content: string
  options?: RrsetOptions
}

/** A change of one record. */
export interface RecordChange {
  action: 'created' | 'updated' | 'deleted'
  /** Null for unmanaged records. */
  recordId: string | null
  type: string
  /** Relative to the zone, `@` for the apex. */
  name: string
  before: RecordState | null
  after: RecordState | null
}

// A webhook message may have 64 KiB; this leaves space for the zone, the actor and the envelope.
const maxChangesBytes = 56 * 1024

/** Origin of changes requested by a caller. */
export const callerOrigin = (ctx: Ctx): ChangeOrigin => (ctx.context.channel === 'dashboard' ? 'dashboard' : 'api')

/** Creates the event for a set of changes. */
export function changedEvent(
  ctx: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  zone: { id: string; name: string },
  origin: ChangeOrigin,
  changes: readonly RecordChange[],
  changeCount = changes.length,
): EventDraft {
  const shown: Payload['changes'] = []
  let bytes = 0
  for (const one of changes) {
    const view = changeView(zone.name, one)
    bytes += Buffer.byteLength(JSON.stringify(view)) + 1
    if (bytes > maxChangesBytes) break
    shown.push(view)
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

const changeView = (zoneName: string, one: RecordChange): Payload['changes'][number] => ({
  action: one.action,
  record_id: one.recordId,
  type: one.type,
  name: one.name,
  fqdn: fqdnOf(one.name, zoneName),
  before: one.before,
  after: one.after,
})
