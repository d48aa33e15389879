import type { Static } from '@sinclair/typebox'
import { certificateKinds } from './event-kinds/certificates'
import { deploymentKinds, serverKinds } from './event-kinds/cloud'
import { dnsKinds } from './event-kinds/dns'
import { domainKinds, watchedDomainKinds } from './event-kinds/domains'
import { dynamicIpKinds } from './event-kinds/dynamic-ips'
import type { EventKindEntry } from './event-kinds/entry'
import { monitoringKinds } from './event-kinds/monitoring'
import { webhookKinds } from './event-kinds/webhooks'
import type { IdPrefix } from './ids'

export type { EventKindEntry } from './event-kinds/entry'

const entries = [
  ...domainKinds,
  ...dnsKinds,
  ...serverKinds,
  monitoringKinds.alert,
  ...watchedDomainKinds,
  monitoringKinds.recovered,
  monitoringKinds.acknowledged,
  ...certificateKinds,
  ...deploymentKinds,
  ...dynamicIpKinds,
  ...webhookKinds,
] as const

type Entry = (typeof entries)[number]

/** The name of an event kind. */
export type EventKind = Entry['kind']

/** The `data` of a message of this kind. */
export type EventData<K extends EventKind = EventKind> = K extends EventKind ? Static<Extract<Entry, { kind: K }>['data']> : never

/** Every event kind: the eight of the public contract in their order, then the extensions. */
export const eventKinds: readonly EventKindEntry<EventKind>[] = entries

/** The entry of a kind, or undefined when there is no such kind. */
export function eventKind(name: string): EventKindEntry<EventKind> | undefined {
  return byName.get(name)
}

/** Whether a text is the name of an event kind. */
export function isEventKind(name: string): name is EventKind {
  return byName.has(name)
}

const byName: ReadonlyMap<string, EventKindEntry<EventKind>> = new Map(eventKinds.map(entry => [entry.kind, entry]))

/** What events may be about, by the prefixes of ids. */
export const eventResources: readonly IdPrefix[] = [
  'zone',
  'dom',
  'wdom',
  'srv',
  'dep',
  'cert',
  'tls',
  'mon',
  'hb',
  'probe',
  'agent',
  'dip',
  'whe',
]
