import type { Reader } from '../../core/db/transaction'
import type { EventData } from '../../core/events'
import { heartbeatSubjects, type HeartbeatSubject } from '../heartbeats/subjects'
import { monitorSubjects, type MonitorSubject } from '../monitors/subjects'
import type { IncidentRow } from './outage'

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

/** Whether what an incident is about has yet to recover; true also where it cannot be found. */
export async function awaitsRecovery(read: Reader, { workspaceId, subjectId }: IncidentRow): Promise<boolean> {
  if (subjectId === null) return false
  const [found] = await findSubjects(read, workspaceId, [subjectId])
  return found?.isFailing ?? true
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
