import { Type, type Static } from '@sinclair/typebox'
import { Instant, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { agentEventKinds, AgentReport } from '../../../wire/agent'

/** What can change in the inventory of a server. */
export const changeKinds = ['port', 'file_system', 'disk', 'array', 'container', 'package', 'fact'] as const
export const changeWords = ['added', 'removed', 'changed'] as const

const value = (description: string) => Nullable(Type.Record(Type.String(), Type.Unknown()), { description })

const InventoryChange = Shape(
  {
    id: Type.String({ description: 'ID of the change.' }),
    at: Instant({ description: 'When it was reported.' }),
    kind: Words(changeKinds, {
      description:
        '`port`: a socket that listens. `fact`: a fact about the server, such as its kernel. The others are items of the inventory.',
    }),
    change: Words(changeWords, { description: 'Whether it was added, removed, or changed.' }),
    name: Type.String({
      description:
        'What has changed: address, port, and protocol of a socket, path of a file system, name of a container or an array, device of a disk, name of a package, or name of a fact.',
    }),
    before: value('Previous value. Null if it was added.'),
    after: value('New value. Null if it was removed.'),
  },
  {
    $id: 'InventoryChange',
    description: 'A change of the inventory of a server.',
    examples: [
      {
        id: 'ichg_01k3z9a1b2c3d4e5f6g7h8j9km',
        at: '2026-11-27T10:05:00.000Z',
        kind: 'port',
        change: 'added',
        name: '0.0.0.0:8080/tcp',
        before: null,
        after: { protocol: 'tcp', address: '0.0.0.0', port: 8080, process: null, user: 'www-data' },
      },
    ],
  },
)
export const InventoryChangeList = ListOf(InventoryChange)
export type InventoryChangeView = Static<typeof InventoryChange>

export const journalKinds = ['moment', 'server.started', ...agentEventKinds] as const

const { causes, cpu_percent, memory_percent, io_full_percent, processes } = AgentReport.properties.moments.items.properties
const Moment = Shape(
  { causes, cpu_percent, memory_percent, io_full_percent, processes },
  {
    $id: 'ServerMoment',
    description: 'What was high in a busy moment, and which processes used the most CPU time or memory then.',
  },
)
export type StoredMoment = Static<typeof Moment>

const JournalEntry = Shape(
  {
    id: Type.String({ description: 'ID of the entry.' }),
    at: Instant({ description: 'When it happened, according to the agent.' }),
    kind: Words(journalKinds, {
      description:
        '`moment`: the server was busy for a minute. `server.started`: the server was started after the previous report of its agent. The others are events: something has started to fail.',
    }),
    name: Nullable(Type.String(), { description: 'Unit, container, disk, or array. Null for moments and starts.' }),
    detail: Nullable(Type.String(), { description: 'What else is known, such as an exit code. Null if nothing.' }),
    moment: Nullable(Moment, { description: 'The busy moment. Null for events.' }),
  },
  {
    $id: 'ServerJournalEntry',
    description: 'Something that the agent of a server noticed.',
    examples: [
      {
        id: 'jrn_01k3z9a1b2c3d4e5f6g7h8j9km',
        at: '2026-11-27T03:12:10.000Z',
        kind: 'moment',
        name: null,
        detail: null,
        moment: {
          causes: ['cpu' as const],
          ...{ cpu_percent: 97.1, memory_percent: 61.4, io_full_percent: 0.3 },
          processes: [
            { name: 'mysqld', user: 'mysql', cpu_percent: 88.2, memory_bytes: 2_147_483_648, command: null },
            { name: 'php-fpm8.2', user: 'www-data', cpu_percent: 6.5, memory_bytes: 94_371_840, command: null },
          ],
        },
      },
    ],
  },
)
export const JournalEntryList = ListOf(JournalEntry)
export type JournalEntryView = Static<typeof JournalEntry>
