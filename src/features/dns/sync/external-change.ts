import type { EventDraft } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { changedEvent, type RecordChange, type RecordForm } from '../changed-event'
import { byItself } from '../zone-changes'
import type { RecordRow, ZoneRow } from '../zone-rows'
import type { changedByOthers } from './evaluate'

type Seen = { ttl: number; values: string[] } | null

/**
 * What somebody else changed at a provider, as the one event of a reading. Values that are kept here have their ids.
 * @param records of the names in question
 */
export function externalEvent(
  hub: Hub,
  zone: ZoneRow,
  changed: ReturnType<typeof changedByOthers>,
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
  return changes.length === 0 ? [] : [changedEvent(byItself(hub, zone, 'dns.sync-zone'), zone, 'external', changes)]
}

const seen = (one: { observedTtl: number | null; observedValues: string[] | null } | null): Seen =>
  one?.observedValues ? { ttl: one.observedTtl!, values: one.observedValues } : null

/** Value by value: what is gone and what is new go together as edits as far as there are as many. */
function valueChanges(before: Seen, after: Seen): Pick<RecordChange, 'action' | 'before' | 'after'>[] {
  const form = (of: Seen, content: string | undefined): RecordForm | null =>
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
