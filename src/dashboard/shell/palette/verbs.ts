import { Check, CirclePause, CirclePlay, Pencil, Play, Plus, type LucideIcon } from 'lucide-react'
import type { ResourceType } from '../../../registry'
import type { Call, Query } from '../../client'
import { acknowledgeIncident, resolveIncident } from '../../pages/incidents/incident-actions'
import { checkNow } from '../../pages/monitors/check-now'
import { rank, wordsOf } from './rank'

/** A resource as returned by a list: some of its fields. */
export type Fields = { id: string } & Record<string, unknown>

/** What a verb can do. */
export interface Tools {
  open(to: string): void
  /** Pauses or resumes a monitor or heartbeat. */
  pause(call: Call): void
}

/** Something to do with a resource. */
interface Verb {
  type: ResourceType
  label(name: string): string
  icon: LucideIcon
  /** Fields that it needs. */
  fields?: readonly string[]
  isFor?(resource: Fields): boolean
  /** Resources to offer before a name is typed. */
  query?: Query
  run(resource: Fields, name: string, tools: Tools): void
}

const paused = (type: 'monitor' | 'heartbeat', path: string): Verb[] => [
  {
    type,
    label: name => `Pause ${name}`,
    icon: CirclePause,
    fields: ['status'],
    isFor: one => one.status !== 'paused',
    run: ({ id }, _, { pause }) => pause({ method: 'POST', path: `${path}/${id}/pause` }),
  },
  {
    type,
    label: name => `Resume ${name}`,
    icon: CirclePlay,
    fields: ['status'],
    isFor: one => one.status === 'paused',
    query: { status: 'paused' },
    run: ({ id }, _, { pause }) => pause({ method: 'POST', path: `${path}/${id}/resume` }),
  },
]

const edit = (type: ResourceType, path: string): Verb => ({
  type,
  label: name => `Edit ${name}`,
  icon: Pencil,
  run: ({ id }, _, { open }) => open(`${path}/${id}/edit`),
})

/** Verbs for resources, which only those who can write see. */
export const verbs: readonly Verb[] = [
  {
    type: 'monitor',
    label: name => `Run check now: ${name}`,
    icon: Play,
    fields: ['status', 'type'],
    isFor: one => one.status !== 'paused' && one.type !== 'group',
    run: ({ id }, name) => checkNow({ id, name }),
  },
  ...paused('monitor', '/monitors'),
  ...paused('heartbeat', '/heartbeats'),
  {
    type: 'incident',
    label: name => `Acknowledge ${name}`,
    icon: Check,
    fields: ['status'],
    isFor: one => one.status === 'open',
    query: { status: 'open' },
    run: ({ id }) => acknowledgeIncident(id),
  },
  {
    type: 'incident',
    label: name => `Resolve ${name}`,
    icon: Check,
    fields: ['status', 'kind'],
    isFor: one => one.status !== 'resolved',
    query: { status: ['open', 'acknowledged'] },
    run: ({ id, kind }) => resolveIncident(id, kind as Parameters<typeof resolveIncident>[1]),
  },
  {
    type: 'zone',
    label: name => `Add record to ${name}`,
    icon: Plus,
    run: ({ id }, _, { open }) => open(`/dns/zones/${id}?add=record`),
  },
  edit('monitor', '/monitors'),
  edit('heartbeat', '/heartbeats'),
  edit('maintenance_window', '/maintenance'),
  edit('notification_channel', '/channels'),
]

const minLength = 3
const wordsOfVerb = ({ label }: Verb) => wordsOf(label('')).filter(word => word.length >= minLength)
const vocabulary = [...new Set(verbs.flatMap(wordsOfVerb))]

/** What a text asks to do: the verbs that it could stand for, and the text without their words. */
export function verbsIn(text: string): { found: readonly Verb[]; rest: string } {
  const terms = text.split(/\s+/).filter(Boolean)
  const meant = new Set(terms.flatMap(meantBy))
  const isFiller = (term: string) => meant.size > 0 && fillers.has(term.toLowerCase())
  return {
    found: verbs.filter(verb => wordsOfVerb(verb).some(word => meant.has(word))),
    rest: terms.filter(term => meantBy(term).length === 0 && !isFiller(term)).join(' '),
  }
}

const fillers = new Set(['to', 'a', 'an', 'the'])

/** The words of verbs that start with a term, or are the same except for a typo. */
function meantBy(term: string): string[] {
  if (term.length < minLength) return []
  const [first] = term.toLowerCase()
  const starting = vocabulary.filter(word => word.startsWith(term.toLowerCase()))
  if (starting.length > 0) return starting
  return rank(vocabulary, term)
    .map(at => vocabulary[at]!)
    .filter(word => word.startsWith(first!) && Math.abs(word.length - term.length) < 2)
}
