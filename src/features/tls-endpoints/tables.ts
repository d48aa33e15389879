import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { bytes, int, json, text, time } from '../../core/db/columns'
import { index, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import type { PlainHttp } from '../../checks/tls-probe/plain-http'
import type { Reason } from './grades/grade'
import { scanTriggers } from './scans/shapes'
import { tlsEndpointMembers, tlsEndpointOrigins, type AddressGrade, type TlsEndpointView } from './shapes'

export const tlsEndpoints = table(
  'tls_endpoints',
  {
    ...resourceColumns(),
    ...memberColumns(tlsEndpointMembers),
    // Host, port, protocol, and server name in one: null in a unique index would be unlike every other null.
    location: text('location').notNull(),
    origin: text('origin', { enum: [...tlsEndpointOrigins] }).notNull(),
    // Set while it doesn’t count against the limit of the plan, because it comes and goes with something else.
    uncountedAt: time('uncounted_at'),
    // When the cause of an endpoint that comes and goes was gone: it is no longer scanned, and deleted a day later.
    goneAt: time('gone_at'),
    // From the last scan that succeeded.
    grade: text('grade').$type<TlsEndpointView['grade']>(),
    // The place of `grade` in a list with problems first: see gradeRank.
    gradeRank: int('grade_rank').notNull(),
    previousGrade: text('previous_grade').$type<TlsEndpointView['grade']>(),
    gradeChangedAt: time('grade_changed_at'),
    score: int('score'),
    profile: text('profile').$type<TlsEndpointView['profile']>(),
    chain: text('chain').$type<TlsEndpointView['chain']>(),
    reasons: json<Reason[]>('reasons').notNull(),
    addresses: json<AddressGrade[]>('addresses').notNull(),
    // What answered HTTP at port 80 while the port was closed at all addresses, and when a scan last saw that (ms UTC). Null if nothing did.
    plainHttp: json<PlainHttp & { seenAt: number }>('plain_http'),
    certificateId: text('certificate_id'),
    lastScanId: text('last_scan_id'),
    lastScanAt: time('last_scan_at'),
    // Null while it is not active.
    nextScanAt: time('next_scan_at'),
    // Number of scans that failed in a row.
    failures: int('failures').notNull(),
    lastError: text('last_error'),
  },
  t => [
    index('tls_endpoints_workspace').on(t.workspaceId, t.id),
    index('tls_endpoints_host').on(t.workspaceId, t.host, t.id),
    index('tls_endpoints_grade').on(t.workspaceId, t.gradeRank, t.id),
    index('tls_endpoints_origin').on(t.origin, t.workspaceId, t.id),
    uniqueIndex('tls_endpoints_location').on(t.workspaceId, t.location),
    index('tls_endpoints_due')
      .on(t.nextScanAt)
      .where(sql`next_scan_at is not null`),
    index('tls_endpoints_counted')
      .on(t.workspaceId)
      .where(sql`uncounted_at is null`),
  ],
)

export const tlsScans = table(
  'tls_scans',
  {
    id: text('id').primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => tlsEndpoints.id, { onDelete: 'cascade' }),
    trigger: text('trigger', { enum: [...scanTriggers] }).notNull(),
    startedAt: time('started_at').notNull(),
    durationMs: int('duration_ms').notNull(),
    grade: text('grade').$type<TlsEndpointView['grade']>(),
    score: int('score'),
    profile: text('profile').$type<TlsEndpointView['profile']>(),
    chain: text('chain').$type<TlsEndpointView['chain']>(),
    rules: json<string[]>('rules').notNull(),
    error: text('error'),
    // The reasons and what was found at each address, as compressed JSON (StoredReport).
    report: bytes('report').notNull(),
  },
  t => [index('tls_scans_endpoint').on(t.endpointId, t.id), index('tls_scans_started').on(t.startedAt)],
)
