import type { FirewallRulesPreview, FirewallView } from '../../../features/servers/firewalls/shapes'
import type { Values } from '../../parts/form'
import type { Tone } from '../../parts/status'
import { labelsFrom, labelsText } from './server-text'

/** Paths that change with a firewall. */
export const invalidates = ['/firewalls', '/actions', '/dynamic-ips']

type Rule = FirewallView['rules'][number]
type Entry = FirewallRulesPreview['added'][number]

export const firewallDefaults = { name: '', description: '', drift_policy: 'report', labels: '', label_selector: '' }

/** Values of the form, for a firewall that exists. */
export const firewallValues = (one: FirewallView): typeof firewallDefaults => ({
  ...{ name: one.name, description: one.description, drift_policy: one.drift_policy },
  ...{ labels: labelsText(one.labels), label_selector: one.label_selector ?? '' },
})

/** The body of a request with values of the form. */
export const firewallBody = (values: Values): Values => ({
  ...values,
  ...('labels' in values && { labels: labelsFrom(String(values.labels)) }),
  ...('label_selector' in values && { label_selector: values.label_selector === '' ? null : values.label_selector }),
})

export const driftPolicies = { report: 'Notify', enforce: 'Notify and restore' } as const

export const stateTitles: Readonly<Record<FirewallView['state'], string>> = {
  applied: 'Applied',
  applying: 'Applying',
  awaiting_confirmation: 'Awaiting confirmation',
  drifted: 'Changed at the cloud',
  failed: 'Failed',
}

const tones: Readonly<Record<string, Tone>> = {
  applied: 'ok',
  applying: 'busy',
  detaching: 'busy',
  awaiting_confirmation: 'warn',
  drifted: 'warn',
  failed: 'bad',
}
export const toneOfFirewall = (state: string): Tone => tones[state] ?? 'idle'

export const protocolTitles: Readonly<Record<Rule['protocol'], string>> = {
  tcp: 'TCP',
  udp: 'UDP',
  icmp: 'ICMP',
  esp: 'ESP',
  gre: 'GRE',
  any: 'Any',
}
export const directionTitles: Readonly<Record<Rule['direction'], string>> = { in: 'Incoming', out: 'Outgoing' }

/** Rules and blocks on lines, for comparisons. */
export const linesOf = ({ rules, blocks }: Pick<FirewallView, 'rules' | 'blocks'>): string[] => [
  ...rules.map(lineOf),
  ...blocks.map(one => `blocks ${one}`),
]

const lineOf = ({ id, direction, protocol, ports, sources, destinations }: Rule): string =>
  `${id}: ${direction} ${protocol} ${ports.length > 0 ? ports.join(',') : 'all ports'} ${(direction === 'in' ? sources : destinations).join(' ')}`

/** Traffic in words: “TCP 443 from 0.0.0.0/0”. */
export const entryText = ({ action, direction, protocol, port, network }: Entry): string =>
  `${action === 'block' ? 'Block: ' : ''}${protocolTitles[protocol as Rule['protocol']] ?? protocol} ${port ?? (protocol === 'tcp' || protocol === 'udp' ? 'all ports' : '')} ${direction === 'in' ? 'from' : 'to'} ${network}`.replace(
    /  +/g,
    ' ',
  )
