import { Type, type Static } from '@sinclair/typebox'
import { Instant, ListOf, Nullable, Shape, Words } from '../../../core/shapes'

/** What can change in the inventory of a server. */
export const changeKinds = ['port', 'file_system', 'disk', 'array', 'container', 'fact'] as const
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
        'What has changed: address, port, and protocol of a socket, path of a file system, name of a container or an array, device of a disk, or name of a fact.',
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
