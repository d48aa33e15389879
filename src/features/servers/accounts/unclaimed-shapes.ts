import { Type, type Static } from '@sinclair/typebox'
import { Nullable, Shape, SinglePageOf, Words } from '../../../core/shapes'
import { cloudStatuses } from '../clouds/cloud'

const UnclaimedServer = Shape(
  {
    ref: Type.String({ description: 'ID at the cloud.' }),
    name: Type.String({ description: 'Name.' }),
    kind: Words(['vm', 'container'], { description: 'Kind of server.' }),
    status: Words(cloudStatuses, { description: 'What the server is doing.' }),
    location: Nullable(Type.String(), { description: 'Location; null if the cloud has none.' }),
    size: Nullable(Type.String(), { description: 'Size; null if sizes are free.' }),
    addresses: Type.Array(Type.String(), { description: 'IP addresses, public ones first.' }),
    labels: Type.Record(Type.String(), Type.String(), { description: 'Labels at the cloud.' }),
  },
  {
    $id: 'UnclaimedServer',
    description: 'A server of a cloud account that is not in the workspace.',
    examples: [
      {
        ref: '4711',
        name: 'old-web',
        kind: 'vm',
        status: 'running',
        location: 'fsn1',
        size: 'cx22',
        addresses: ['192.0.2.21'],
        labels: {},
      },
    ],
  },
)
export const UnclaimedServerList = SinglePageOf(UnclaimedServer)

export const CloudClaim = Shape(
  {
    refs: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
      description: 'IDs at the cloud of the servers to add.',
    }),
  },
  { $id: 'CloudClaim', description: 'Servers of a cloud account to add to the workspace.', examples: [{ refs: ['4711'] }] },
)

export const CloudClaimResult = Shape(
  { server_ids: Type.Array(Type.String(), { description: 'IDs of the servers that are in the workspace now.' }) },
  {
    $id: 'CloudClaimResult',
    description: 'The servers that were added.',
    examples: [{ server_ids: ['srv_01k3z9a1b2c3d4e5f6g7h8j9km'] }],
  },
)

export type UnclaimedServerView = Static<typeof UnclaimedServer>
export type CloudClaim = Static<typeof CloudClaim>
