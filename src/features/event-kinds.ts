import type { EventKind, EventKindEntry } from '../core/event-kinds'
import { gapEventKinds } from './coverage/event-kinds'
import { certificateKinds } from './certificates/event-kinds'
import { deploymentKinds } from './deploy-hooks/event-kinds'
import { dnsKinds } from './dns/event-kinds'
import { domainKinds } from './domains/event-kinds'
import { dynamicIpKinds } from './dynamic-ips/event-kinds'
import { monitoringKinds } from './incidents/event-kinds'
import { firewallKinds, portKinds, servedCertificateKinds, serverKinds } from './servers/event-kinds'
import { tlsEndpointKinds } from './tls-endpoints/event-kinds'
import { watchedDomainKinds } from './watched-domains/event-kinds'
import { webhookKinds } from './webhooks/event-kinds'

const entries = [
  ...domainKinds,
  ...dnsKinds,
  ...serverKinds,
  monitoringKinds.alert,
  ...watchedDomainKinds,
  monitoringKinds.recovered,
  monitoringKinds.acknowledged,
  ...certificateKinds,
  ...gapEventKinds,
  ...deploymentKinds,
  ...dynamicIpKinds,
  ...firewallKinds,
  ...portKinds,
  ...servedCertificateKinds,
  ...tlsEndpointKinds,
  ...webhookKinds,
] as const

declare module '../core/declared' {
  interface Declared {
    eventKinds: typeof entries
  }
}

/** All event kinds: the eight core kinds in their order, then the extensions. */
export const eventKinds: readonly EventKindEntry<EventKind>[] = entries

/** Returns the entry of a kind, or undefined if it doesn’t exist. */
export function eventKind(name: string): EventKindEntry<EventKind> | undefined {
  return byName.get(name)
}

/** Whether a string is the name of an event kind. */
export function isEventKind(name: string): name is EventKind {
  return byName.has(name)
}

const byName: ReadonlyMap<string, EventKindEntry<EventKind>> = new Map(eventKinds.map(entry => [entry.kind, entry]))
