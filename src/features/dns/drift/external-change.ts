import type { EventDraft } from '../../../core/change-result'
import type { Hub } from '../../../core/hub'
import { changedEvent, type RecordChange, type RecordState } from '../changes/changed-event'
import { systemChanger } from '../changes/change-zone'
import type { RecordRow } from '../records/rows'
import type { ZoneRow } from '../zones/rows'
import type { externalChanges } from '../sync/evaluate'

type Seen = { ttl: number; values: string[] } | null

/**
 * Creates the one event for all external changes found by a read. Values that match a record carry its id.
 * @param records records at the affected names
 */
export function externalEvent(
  hub: Hub,
  zone: ZoneRow,
  changed: ReturnType<typeof externalChanges>,
  records: readonly Pick<RecordRow, 'id' | 'name' | 'type' | 'content'>[],
): EventDraft[] {
  const ids = new Map(records.map(one => [`${one.name} ${one.type} ${one.content}`, one.id]))
  const changes = changed.flatMap(({ name, type, before, after }) =>
    valueChanges(seen(before), seen(after)).map((one): RecordChange => ({
      ...one,
      recordId: ids.get(`${name} ${type} ${(one.before ?? one.after)!.content}`) ?? null,
      name,
      type,
    })),
  )
  return changes.length === 0 ? [] : [changedEvent(systemChanger(hub, zone, 'dns.sync-zone'), zone, 'external', changes)]
}

// What is not a plain rrset has no TTL.
const seen = (one: { observedTtl: number | null; observedValues: string[] | null } | null): Seen =>
  one?.observedValues && one.observedTtl !== null ? { ttl: one.observedTtl, values: one.observedValues } : null

/** Compares value by value: removed and added values are paired up as updates, the rest are deletions or additions. */
function valueChanges(before: Seen, after: Seen): Pick<RecordChange, 'action' | 'before' | 'after'>[] {
  const form = (of: Seen, content: string | undefined): RecordState | null =>
    content === undefined ? null : { ttl: of!.ttl, content }
  const was = before?.values.filter(one => !after?.values.includes(one)) ?? []
  const is = after?.values.filter(one => !before?.values.includes(one)) ?? []
  const stayed = before?.ttl === after?.ttl ? [] : (before?.values.filter(one => after?.values.includes(one)) ?? [])
  const pairs = [
    ...stayed.map(one => [one, one]),
    ...Array.from({ length: Math.max(was.length, is.length) }, (_, n) => [was[n], is[n]]),
  ]
  return pairs.map(([one, other]) => ({
    action: one === undefined ? 'created' : other === undefined ? 'deleted' : 'updated',
    before: form(before, one),
    after: form(after, other),
  }))
}
