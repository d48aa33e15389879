import type { Reader } from '../../core/db/transaction'
import type { EventData } from '../../core/events'
import { heartbeatSubjects, type HeartbeatSubject } from '../heartbeats/subjects'
import { monitorSubjects, type MonitorSubject } from '../monitors/subjects'

// What an incident can be about, as it is now. The steps in outages.ts do not come here: monitors and heartbeats call them.

/** The monitors and heartbeats of a workspace among these ids. */
export async function findSubjects(
  read: Reader,
  workspaceId: string,
  ids: readonly string[],
): Promise<(MonitorSubject | HeartbeatSubject)[]> {
  const [first, second] = [await monitorSubjects(read, workspaceId, ids), await heartbeatSubjects(read, workspaceId, ids)]
  return [...first, ...second]
}

type Facts = Pick<EventData<'monitor.acknowledged'>, 'monitor' | 'heartbeat' | 'probe'>

/** The members of an event that say what it is about; all null where it is about nothing, or that was deleted. */
export async function subjectFacts(read: Reader, workspaceId: string, subjectId: string | null): Promise<Facts> {
  const [found] = subjectId === null ? [] : await findSubjects(read, workspaceId, [subjectId])
  return {
    monitor: found?.type === 'monitor' ? found.fact : null,
    heartbeat: found?.type === 'heartbeat' ? found.fact : null,
    probe: null,
  }
}
