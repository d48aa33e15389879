import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { Action } from '../../actions/shapes'
import { Volume, VolumeActionInput, VolumeInput, VolumeList, VolumePatch } from './shapes'
import { createVolume, deleteVolume, getVolume, listVolumes, performVolumeAction, updateVolume, volumeListing } from './volumes'

export const volumeRoutes = area('volumes', 'Servers and cloud', [
  ...crud({
    type: 'volume',
    response: Volume,
    list: { description: 'Lists the volumes.', listing: volumeListing, response: VolumeList, run: listVolumes },
    get: { description: 'Returns a volume.', run: getVolume },
    update: {
      description:
        'Updates the given fields, also at the cloud: `action_id` is the action that does that. If it fails, the name is reset to the one at the cloud. Labels of volumes that were not created here are only stored here.',
      body: VolumePatch,
      problems: ['conflict', 'resource_locked'],
      run: updateVolume,
    },
  }),
  route({
    method: 'POST',
    path: '/v1/volumes',
    guard: 'cloud.write',
    action: 'cloud.volume.create',
    operationId: 'createVolume',
    summary: 'Create a volume',
    description:
      'Creates a volume at a cloud, and attaches it if `server_id` is set. The response has the state `creating` and the action that creates it as `action_id`. With `Prefer: wait`, the response is delayed until the action has finished.',
    body: VolumeInput,
    status: 201,
    response: Volume,
    needsIdempotencyKey: true,
    longPoll: true,
    problems: [
      'plan_limit_reached',
      'spend_cap_reached',
      'price_unknown',
      'price_above_maximum',
      'conflict',
      'provider_failed',
      'rate_limited',
    ],
    run: (ctx, { body, waiting }) => createVolume(ctx, body, waiting),
  }),
  route({
    method: 'DELETE',
    path: '/v1/volumes/:id',
    guard: 'cloud.write',
    action: 'cloud.volume.delete',
    operationId: 'deleteVolume',
    summary: 'Delete a volume',
    description:
      'Deletes a volume with its data. It must not be attached. If it exists at the cloud, the response is 202 with the action that deletes it there; otherwise, it is 204.',
    status: 204,
    otherStatus: { status: 202, response: Action, applies: result => result !== undefined },
    collection: '/v1/actions',
    problems: ['conflict', 'protected', 'resource_locked'],
    run: (ctx, { params }) => deleteVolume(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/volumes/:id/actions',
    guard: 'cloud.write',
    action: 'cloud.volume.act',
    operationId: 'performVolumeAction',
    summary: 'Perform an action on a volume',
    description:
      'Starts an action: `attach`, `detach`, `resize`, `set_protection`, or `restore_snapshot`. If the volume already is in the requested state, the action has succeeded with the result `unchanged`. With `Prefer: wait`, the response is delayed until the action has finished.',
    body: VolumeActionInput,
    status: 202,
    response: Action,
    collection: '/v1/actions',
    longPoll: true,
    problems: [
      'conflict',
      'resource_locked',
      'unsupported_action',
      'spend_cap_reached',
      'price_unknown',
      'price_above_maximum',
      'provider_failed',
      'rate_limited',
    ],
    run: (ctx, { params, body, waiting }) => performVolumeAction(ctx, params.id!, body, waiting),
  }),
])
