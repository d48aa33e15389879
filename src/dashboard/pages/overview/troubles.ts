import type { DnsRecordView } from '../../../features/dns/record-shapes'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import type { OverviewView } from '../../../features/overview/shapes'
import { counted } from '../../parts/counted'
import { moodOf, wordsOf, type Mood } from '../../parts/status'
import { reasonAt, reasonOfZone } from '../dns/records/record-reason'

/** Something that is not as it should be, and where to see to it. */
export interface Trouble {
  id: string
  state: string
  /** The title says how it is: the word for it is left out. */
  isSaid?: boolean
  mood: Mood
  title: string
  /** Why, as far as it is known. */
  reason: string
  to: string
  search?: Record<string, string>
  /** Since when; null where that is not known. */
  since: string | null
}

/** What is wrong beside the incidents, the worst in front. */
export function troublesOf({ incidents, heartbeats, dns, webhooks }: OverviewView): Trouble[] {
  const told = new Set(incidents?.data.flatMap(one => one.heartbeats.map(heartbeat => heartbeat.id)))
  const overdue = (heartbeats?.overdue ?? [])
    .filter(one => !told.has(one.id))
    .map((one): Trouble => {
      const isLate = one.status === 'grace'
      return {
        id: one.id,
        state: one.status,
        mood: isLate ? 'warn' : 'bad',
        title: one.name,
        reason: isLate ? 'Its ping is late; the grace time runs.' : 'Its ping did not come.',
        to: `/heartbeats/${one.id}`,
        since: isLate ? one.expected_at : one.status_since_at,
      }
    })
  const all = [...overdue, ...(dns ? dnsTroubles(dns) : []), ...(webhooks ? webhookTroubles(webhooks) : [])]
  return all.sort((a, b) => order.indexOf(a.mood) - order.indexOf(b.mood))
}

const order: readonly Mood[] = ['bad', 'warn', 'busy', 'idle', 'ok']

function dnsTroubles({ unsynced_zones: zones, unsynced_records: records }: NonNullable<OverviewView['dns']>): Trouble[] {
  const inSight = new Set(records.map(one => one.zone_id))
  return [
    ...records.map(one => ofRecord(one, zones.find(zone => zone.id === one.zone_id) ?? null)),
    // A zone whose records are told is not told again, unless it says more than they do.
    ...zones.filter(one => reasonOfZone(one) !== null || !inSight.has(one.id)).map(ofZone),
  ]
}

function ofRecord(record: DnsRecordView, zone: ZoneView | null): Trouble {
  const { state, targets } = record.sync
  const at = targets.find(one => one.state === state)
  return {
    id: record.id,
    state,
    mood: moodOf(state),
    title: `${record.unicode_fqdn} ${record.type}`,
    reason: (at && zone ? reasonAt(at, zone, 'there') : at?.detail) ?? `It is ${wordsOf(state)}.`,
    to: `/dns/zones/${record.zone_id}`,
    search: { synced: 'false', ...(record.name !== '@' && { q: record.name }) },
    since: null,
  }
}

function ofZone(zone: ZoneView): Trouble {
  const { state } = zone.sync
  return {
    id: zone.id,
    state,
    mood: zone.blocked ? 'warn' : moodOf(state),
    title: zone.unicode_name,
    reason: reasonOfZone(zone) ?? `The zone is ${wordsOf(state)} at its providers.`,
    to: zone.blocked ? `/dns/zones/${zone.id}/plans` : `/dns/zones/${zone.id}/drift`,
    since: null,
  }
}

function webhookTroubles({ endpoints, deliveries }: NonNullable<OverviewView['webhooks']>): Trouble[] {
  const rows: (Trouble | false)[] = [
    endpoints.disabled > 0 && {
      id: 'endpoints-disabled',
      state: 'disabled',
      isSaid: true,
      mood: 'bad',
      title: counted(endpoints.disabled, 'webhook endpoint is disabled', 'webhook endpoints are disabled'),
      reason: 'Deliveries failed for too long; nothing is sent until somebody enables them.',
      to: '/webhooks',
      search: { status: 'disabled' },
      since: null,
    },
    endpoints.failing > 0 && {
      id: 'endpoints-failing',
      state: 'failing',
      isSaid: true,
      mood: 'bad',
      title: counted(endpoints.failing, 'webhook endpoint takes nothing', 'webhook endpoints take nothing'),
      reason: 'None of the last messages was taken.',
      to: '/webhooks',
      since: null,
    },
    deliveries.failed > 0 && {
      id: 'deliveries-failed',
      state: 'exhausted',
      isSaid: true,
      mood: 'bad',
      title: counted(deliveries.failed, 'delivery was given up', 'deliveries were given up'),
      reason: 'Within the last 24 hours. They can be sent again.',
      to: '/webhooks/deliveries',
      search: { status: 'exhausted' },
      since: null,
    },
    deliveries.retrying > 0 && {
      id: 'deliveries-retrying',
      state: 'retrying',
      isSaid: true,
      mood: 'warn',
      title: counted(deliveries.retrying, 'delivery waits for another try', 'deliveries wait for another try'),
      reason: 'The last try failed.',
      to: '/webhooks/deliveries',
      search: { status: 'retrying' },
      since: null,
    },
  ]
  return rows.filter(one => one !== false)
}
