import type { Reader } from '../../core/db/transaction'
import type { EventData } from '../../core/event-kinds'

declare module '../../core/hub' {
  interface Hub {
    /** Finds the monitors, heartbeats, TLS endpoints, and certificates of a workspace with these ids. */
    findSubjects(read: Reader, workspaceId: string, ids: readonly string[]): Promise<Subject[]>
  }
}

/** What an incident can be about. */
export type Subject = MonitorSubject | HeartbeatSubject | GapSubject

/** A monitor as the subject of an incident, and as it appears in events. */
interface MonitorSubject {
  type: 'monitor'
  id: string
  name: string
  tags: string[]
  target: string | null
  /** Whether a notification about an outage was sent, so that one about the recovery will follow. */
  isFailing: boolean
  fact: NonNullable<EventData<'monitor.alert'>['monitor']>
}

/** A heartbeat as the subject of an incident, with its event data. */
interface HeartbeatSubject {
  type: 'heartbeat'
  id: string
  name: string
  tags: string[]
  target: null
  /** Whether it is down. */
  isFailing: boolean
  fact: NonNullable<EventData<'monitor.alert'>['heartbeat']>
}

/** A TLS endpoint or certificate as the subject of an incident. No event describes it. */
interface GapSubject {
  type: 'tls_endpoint' | 'certificate'
  id: string
  name: string
  tags: string[]
  /** The host of an endpoint. */
  target: string | null
  /** Whether a gap that opens incidents is unresolved. */
  isFailing: boolean
}
