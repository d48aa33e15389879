import type { Rows } from './database'

// Counts entries of all resources at once: a subquery per resource takes a second with thousands of resources.
const entriesOf = (actions: string) => `(
  select target_id, count(*) as entries from audit_entries where ${actions} group by target_id) as written on target_id = id`

// Each query finds partial writes: rows that belong together must either all exist or not at all.
const rules: Record<string, string> = {
  'the audit log of a workspace has a gap': `
    select workspace_id, count(*) as entries, min(seq) as first, max(seq) as last from audit_entries group by workspace_id
    having min(seq) <> 1 or max(seq) <> count(*)`,
  'the audit log and its counter differ': `
    select name, value from counters where name like 'audit:%'
    and value <> coalesce((select max(seq) from audit_entries where 'audit:' || workspace_id = name), 0)`,
  'the events of a resource and kind have a gap': `
    select resource_id, kind, count(*) as events, min(sequence) as first, max(sequence) as last from events
    group by resource_id, kind having min(sequence) <> 1 or max(sequence) <> count(*)`,
  'the feed of a workspace has a gap': `
    select workspace_id, count(*) as events, min(position) as first, max(position) as last from events
    group by workspace_id having min(position) <> 1 or max(position) <> count(*)`,
  'a heartbeat doesn’t have exactly one audit entry for its creation': `
    select id, entries from heartbeats left join ${entriesOf("action = 'heartbeat.create'")} where coalesce(entries, 0) <> 1`,
  'a heartbeat is in the audit log but doesn’t exist': `
    select target_id from audit_entries where action = 'heartbeat.create' and outcome = 'success'
    and target_id not in (select id from heartbeats)
    and target_id not in (select target_id from audit_entries where action = 'heartbeat.delete')`,
  'the version of a heartbeat doesn’t match its audit entries': `
    select id, version, entries from heartbeats left join ${entriesOf(`
      action in ('heartbeat.update', 'heartbeat.pause', 'heartbeat.rotate')
      or (action = 'heartbeat.resume' and actor_type <> 'ingest')`)} where version <> 1 + coalesce(entries, 0)`,
  'an endpoint doesn’t have exactly one audit entry for its creation': `
    select id, entries from webhook_endpoints left join ${entriesOf("action = 'webhooks.endpoint.create'")}
    where coalesce(entries, 0) <> 1`,
  'the version of an endpoint doesn’t match its audit entries': `
    select id, version, entries from webhook_endpoints left join ${entriesOf(`
      action = 'webhooks.endpoint.update'
      or (action in ('webhooks.endpoint.enable', 'webhooks.endpoint.disable') and changes is not null)
      or (action in ('webhooks.secret.rotate', 'webhooks.secret.promote') and outcome = 'success')
    `)} where version <> 1 + coalesce(entries, 0)`,
  'the pings of a heartbeat have a gap or don’t match its count': `
    select heartbeat_id, min(ping_count) as counted, count(*) as stored, min(n) as first, max(n) as last from pings
    join heartbeats on heartbeats.id = heartbeat_id group by heartbeat_id
    having max(n) <> min(ping_count) or count(*) <> max(n) - min(n) + 1 or (min(n) > 1 and count(*) < 100)`,
  'a heartbeat counts pings but none exist': `
    select id, ping_count from heartbeats where ping_count > 0 and id not in (select heartbeat_id from pings)`,
  'status changes and events don’t match': `
    select id from heartbeats where not exists (select 1 from audit_entries where action = 'maintenance.window.create') and (
    (select count(*) from flips where heartbeat_id = heartbeats.id and to_status = 'down')
      <> (select count(*) from events where resource_id = heartbeats.id and kind = 'monitor.alert')
    or (select count(*) from flips where heartbeat_id = heartbeats.id and from_status = 'down' and to_status = 'up')
      <> (select count(*) from events where resource_id = heartbeats.id and kind = 'monitor.recovered'))`,
  'the record of a dynamic IP source differs from its address': `
    select dynamic_ips.id, ipv4, content from dynamic_ips join (select source_id, zone_id, zone_name, name from dynamic_ip_hosts) as host
    on source_id = dynamic_ips.id left join dns_records on dns_records.zone_id = host.zone_id and dns_records.type = 'A'
    and dns_records.name || '.' || zone_name = host.name where coalesce(ipv4, '') <> coalesce(content, '')`,
  'reports, events, and audit entries of a dynamic IP source don’t match': `
    select id, entries from dynamic_ips left join ${entriesOf("action = 'dynamic_ip.report'")}
    where coalesce(entries, 0) <> (select count(*) from events where resource_id = dynamic_ips.id and kind = 'dynamic_ip.changed')
    or coalesce(entries, 0) <> (select count(*) from dynamic_ip_updates where source_id = dynamic_ips.id and changed)
    or (version <> 1 + coalesce(entries, 0) and not exists (select 1 from audit_entries
      where action like 'dynamic_ip.%' and action not in ('dynamic_ip.create', 'dynamic_ip.report')))`,
  'status changes and audit entries don’t match': `
    select id, changes, entries from heartbeats
    left join (select heartbeat_id, count(*) as changes from flips group by heartbeat_id) as changed on heartbeat_id = id
    left join ${entriesOf(`
      action in ('heartbeat.activate', 'heartbeat.fail', 'heartbeat.miss', 'heartbeat.recover')
      or (action in ('heartbeat.pause', 'heartbeat.resume') and changes is not null)
    `)} where coalesce(changes, 0) <> coalesce(entries, 0)`,
  'the previous status of a status change is wrong': `
    select heartbeat_id, id, from_status, before from (
      select heartbeat_id, id, from_status, lag(to_status) over (partition by heartbeat_id order by id) as before from flips
    ) as steps where before is not null and before <> from_status`,
  'a heartbeat that is down doesn’t have exactly one unresolved incident': `
    select id from heartbeats where status = 'down' and alert_held_until is null
    and (select count(*) from incidents where open_subject = heartbeats.id) <> 1
    and not exists (select 1 from incidents where subject_id = heartbeats.id and awaits_recovery)`,
  'an incident is unresolved but its heartbeat is not down': `
    select id from incidents where kind = 'heartbeat.missed' and open_subject is not null
    and open_subject not in (select id from heartbeats where status = 'down')
    and not exists (select 1 from incident_updates where incident_id = incidents.id and kind = 'reopened' and actor is not null)`,
  'the status of an incident doesn’t match its timeline': `
    select id, status, last from incidents
    join (
      select incident_id, kind as last, row_number() over (partition by incident_id order by id desc) as place
      from incident_updates where kind not in ('affected', 'edited', 'note', 'postmortem', 'notified', 'notification_failed')
    ) as steps on incident_id = id and place = 1
    where (status = 'resolved') <> (last = 'resolved') or (status = 'acknowledged') <> (last = 'acknowledged')`,
  'the attempts of a delivery don’t match its count': `
    select id, attempt_count from webhook_deliveries
    where attempt_count <> (select count(*) from webhook_attempts where delivery_id = webhook_deliveries.id)
    or attempt_count <> coalesce((select max(number) from webhook_attempts where delivery_id = webhook_deliveries.id), 0)`,
}

// Additional rules that apply once all jobs are done.
const finalRules: Record<string, string> = {
  'a job remains': 'select id, kind, state, attempts, last_error from jobs',
  'an event has no delivery to an endpoint that selected it': `
    select happened.id as event, chosen.id as endpoint from events as happened
    join webhook_endpoints as chosen
    on chosen.workspace_id = happened.workspace_id and chosen.events like '%"' || happened.kind || '"%'
    left join webhook_deliveries as sent on sent.event_id = happened.id and sent.endpoint_id = chosen.id where sent.id is null`,
  'an event has two deliveries to one endpoint': `
    select event_id, endpoint_id, count(*) as deliveries from webhook_deliveries where event_id is not null
    group by event_id, endpoint_id having count(*) > 1`,
  'a delivery was not delivered': `
    select id, status, reason, attempt_count from webhook_deliveries where status <> 'delivered'`,
}

/** Finds inconsistencies in a database. There must be none at any time, even after a process was killed. */
export const inconsistencies = (rows: Rows): Promise<string[]> => violations(rows, rules)

/**
 * Finds inconsistencies, pending jobs, and events that were not delivered to all endpoints. There must be none when the hub is
 * idle.
 */
export const unfinishedWork = (rows: Rows): Promise<string[]> => violations(rows, { ...rules, ...finalRules })

async function violations(rows: Rows, queries: Record<string, string>): Promise<string[]> {
  const lines: string[] = []
  for (const [rule, query] of Object.entries(queries)) {
    const found = await rows.all(query)
    if (found.length > 0) lines.push(`${rule} (${found.length}): ${JSON.stringify(found.slice(0, 3))}`)
  }
  return lines
}
