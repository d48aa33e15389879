import { isDeepStrictEqual } from 'node:util'
import type { AgentFacts, AgentReport } from '../../../wire/agent'
import type { InventoryChangeView } from './shapes'

type ChangeKind = InventoryChangeView['kind']

/** A difference between two inventories. */
export interface InventoryChange {
  kind: ChangeKind
  change: InventoryChangeView['change']
  /** What it is about, such as `0.0.0.0:443/tcp`, a path, or the name of a fact. */
  name: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** The parts of reports in which changes are looked for. */
export const comparedParts = ['sockets', 'mounts', 'disks', 'arrays', 'containers', 'packages'] as const
type ComparedPart = (typeof comparedParts)[number]
type ItemOf<Part extends ComparedPart> = NonNullable<AgentReport[Part]>[number]
type Socket = ItemOf<'sockets'>

/** An address and a port with its protocol. */
export const socketName = ({ protocol, address, port }: Pick<Socket, 'protocol' | 'address' | 'port'>): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}/${protocol}`

/** What an item is called, and what of it counts as the inventory: states belong to health and to the journal. */
interface Comparison<Part extends ComparedPart> {
  kind: ChangeKind
  nameOf(item: ItemOf<Part>): string
  valueOf(item: ItemOf<Part>): Record<string, unknown>
}

const comparisons: { readonly [Part in ComparedPart]: Comparison<Part> } = {
  sockets: { kind: 'port', nameOf: socketName, valueOf: one => one },
  // Disks can have other names after a restart.
  mounts: { kind: 'file_system', nameOf: one => one.path, valueOf: ({ path, source, type }) => ({ path, source, type }) },
  disks: { kind: 'disk', nameOf: one => one.device, valueOf: ({ device, model, serial }) => ({ device, model, serial }) },
  arrays: { kind: 'array', nameOf: one => one.name, valueOf: ({ name, kind }) => ({ name, kind }) },
  containers: { kind: 'container', nameOf: one => one.name, valueOf: ({ name, image }) => ({ name, image }) },
  packages: { kind: 'package', nameOf: one => one.name, valueOf: ({ version }) => ({ version }) },
}

/** Compares a part with the one that was reported before. */
export function compareParts<Part extends ComparedPart>(
  part: Part,
  before: readonly ItemOf<Part>[],
  after: readonly ItemOf<Part>[],
): InventoryChange[] {
  const { kind, nameOf, valueOf } = comparisons[part]
  const byName = (items: readonly ItemOf<Part>[]) => new Map(items.map(one => [nameOf(one), valueOf(one)]))
  return differences(kind, byName(before), byName(after))
}

/** Facts that describe the server. The others follow from how it runs, such as when it started. */
const comparedFacts = [
  ...([
    'hostname',
    'fqdn',
    'os',
    'kernel',
    'arch',
    'virtualization',
    'cpu_model',
    'cores',
    'memory_bytes',
    'disk_bytes',
  ] as const),
  ...(['addresses', 'macs', 'timezone'] as const),
] satisfies (keyof AgentFacts)[]

/** Compares facts with those that were reported before. What becomes known, or unknown, has not changed. */
export function compareFacts(before: AgentFacts, after: AgentFacts): InventoryChange[] {
  const values = (facts: AgentFacts) =>
    new Map(
      comparedFacts.flatMap(name => {
        const value = facts[name]
        // The order of addresses has no meaning.
        return value === undefined ? [] : [[name as string, { value: Array.isArray(value) ? value.toSorted() : value }] as const]
      }),
    )
  return differences('fact', values(before), values(after)).filter(one => one.change === 'changed')
}

type Values = ReadonlyMap<string, Record<string, unknown>>

function differences(kind: ChangeKind, before: Values, after: Values): InventoryChange[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].flatMap(name => {
    const [old, current] = [before.get(name) ?? null, after.get(name) ?? null]
    if (old && current && isSame(old, current)) return []
    const change = old === null ? 'added' : current === null ? 'removed' : 'changed'
    return [{ kind, change, name, before: old, after: current }]
  })
}

/** What is unknown, such as the program of a socket, has not changed. */
const isSame = (before: Record<string, unknown>, after: Record<string, unknown>): boolean =>
  Object.keys(after).every(
    field => before[field] == null || after[field] == null || isDeepStrictEqual(before[field], after[field]),
  )
