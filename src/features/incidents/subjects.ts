import type { Reader } from '../../core/db/transaction'
import type { EventData } from '../../core/event-kinds'
import type { Hub } from '../../core/hub'
import type { IncidentRow } from './outages/outage'

/** Whether the subject of an incident is still failing. True if it can't be found. */
export async function awaitsRecovery(read: Reader, hub: Hub, { workspaceId, subjectId }: IncidentRow): Promise<boolean> {
  if (subjectId === null) return false
  const [found] = await hub.findSubjects(read, workspaceId, [subjectId])
  return found?.isFailing ?? true
}

type SubjectEventData = Pick<EventData<'monitor.acknowledged'>, 'monitor' | 'heartbeat' | 'probe'>

/** The subject fields of an event; all null if there is no subject or it was deleted. */
export async function subjectEventData(
  read: Reader,
  hub: Hub,
  workspaceId: string,
  subjectId: string | null,
): Promise<SubjectEventData> {
  const [found] = subjectId === null ? [] : await hub.findSubjects(read, workspaceId, [subjectId])
  return {
    monitor: found?.type === 'monitor' ? found.fact : null,
    heartbeat: found?.type === 'heartbeat' ? found.fact : null,
    probe: null,
  }
}
