import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { Action } from '../../actions/shapes'
import { createSnapshot } from './create'
import { Snapshot, SnapshotInput, SnapshotList, SnapshotPatch } from './shapes'
import { deleteSnapshot, getSnapshot, listSnapshots, snapshotListing, updateSnapshot } from './snapshots'

export const snapshotRoutes = area('snapshots', 'Servers and cloud', [
  ...crud({
    type: 'snapshot',
    response: Snapshot,
    list: {
      description: 'Lists the snapshots of servers and volumes.',
      listing: snapshotListing,
      response: SnapshotList,
      run: listSnapshots,
    },
    create: {
      description:
        'Creates a snapshot of a server, as the action `snapshot` of the server does, or of a volume. The response has the state `creating` and the action as `action_id`.',
      body: SnapshotInput,
      problems: [
        'plan_limit_reached',
        'conflict',
        'resource_locked',
        'unsupported_action',
        'spend_cap_reached',
        'price_unknown',
        'price_above_maximum',
        'provider_failed',
      ],
      run: createSnapshot,
    },
    get: { description: 'Returns a snapshot.', run: getSnapshot },
    update: {
      description: 'Updates the given fields. The name is only stored here.',
      body: SnapshotPatch,
      run: updateSnapshot,
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/snapshots/:id',
    guard: 'cloud.write',
    action: 'cloud.snapshot.delete',
    operationId: 'deleteSnapshot',
    summary: 'Delete a snapshot',
    description:
      'Deletes a snapshot. If it exists at the cloud, the response is 202 with the action that deletes it there; otherwise, it is 204.',
    status: 204,
    otherStatus: { status: 202, response: Action, applies: result => result !== undefined },
    collection: '/v1/actions',
    problems: ['protected', 'resource_locked'],
    run: (ctx, { params }) => deleteSnapshot(ctx, params.id!),
  }),
])
