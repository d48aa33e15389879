import { noFacts, type CheckResult } from '../../../checks/check'
import { target } from '../../../core/audit'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import type { LoadedMonitor } from './roster'

const reason =
  'The check repeatedly blocked all other checks of this hub, so it no longer runs. Change the monitor, such as its conditions, to run it again.'

/** The last result of a monitor that no longer runs because its check blocked all others. */
export const quarantineResult = ({ id, version }: LoadedMonitor, now: number): CheckResult => ({
  monitor: id,
  revision: version,
  nonce: null,
  at: now,
  due_at: now,
  status: 'degraded',
  error: { kind: 'internal', message: reason },
  conditions: [],
  code: null,
  phases: noFacts().phases,
  address: null,
  certificate: null,
  evidence: null,
})

/** Sends the workspace a notice that a monitor no longer runs. */
export const sendQuarantineNotice = (hub: Hub, { id, name, workspaceId }: LoadedMonitor): Promise<void> =>
  record(hub, async () => ({
    result: undefined,
    notices: [
      {
        workspaceId,
        kind: 'monitor_check.quarantined',
        resource: target('monitor', { id, name }),
        text: `${name} is no longer checked. ${reason}`,
        details: { monitor_id: id },
        dedupKey: id,
      },
    ],
  }))
