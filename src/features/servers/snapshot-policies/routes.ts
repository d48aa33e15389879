import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { createPolicy, deletePolicy, getPolicy, listPolicies, policyListing, runPolicy, updatePolicy } from './policies'
import { SnapshotPolicy, SnapshotPolicyInput, SnapshotPolicyList, SnapshotPolicyPatch } from './shapes'

export const snapshotPolicyRoutes = area(
  'snapshot-policies',
  'Servers and cloud',
  crud({
    type: 'snapshot_policy',
    response: SnapshotPolicy,
    list: {
      description: 'Lists the snapshot policies.',
      listing: policyListing,
      response: SnapshotPolicyList,
      run: listPolicies,
    },
    create: {
      description: 'Creates a policy. It creates snapshots of servers on a schedule, and deletes old snapshots that it created.',
      body: SnapshotPolicyInput,
      problems: ['already_exists', 'conflict'],
      run: createPolicy,
    },
    get: { description: 'Returns a snapshot policy.', run: getPolicy },
    update: {
      description: 'Updates the given fields.',
      body: SnapshotPolicyPatch,
      problems: ['already_exists'],
      run: updatePolicy,
    },
    delete: { description: 'Deletes a snapshot policy. Its snapshots are kept.', run: deletePolicy },
    verbs: {
      run: {
        description: 'Runs a policy within a minute, even if it is paused. Then `last_run` shows the result.',
        run: runPolicy,
      },
    },
  }),
)
