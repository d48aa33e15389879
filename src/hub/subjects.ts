import type { Reader } from '../core/db/transaction'
import type { Subject } from '../features/incidents/subject'
import { gapSubjects } from '../features/coverage/gap-incidents'
import { heartbeatSubjects } from '../features/heartbeats/subjects'
import { monitorSubjects } from '../features/monitors/subjects'

/** Finds the monitors, heartbeats, TLS endpoints, and certificates of a workspace with these ids. */
export const findSubjects = async (read: Reader, workspaceId: string, ids: readonly string[]): Promise<Subject[]> => [
  ...(await monitorSubjects(read, workspaceId, ids)),
  ...(await heartbeatSubjects(read, workspaceId, ids)),
  ...(await gapSubjects(read, workspaceId, ids)),
]
