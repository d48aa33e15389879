import type { AnyElysia } from 'elysia'
import { setupRoutes, signUpRoutes, tokenRoutes } from '../access/routes'
import { factorRoutes } from '../access/factor-routes'
import { passkeyRoutes } from '../access/passkey-routes'
import { passwordResetRoutes } from '../access/password-reset-routes'
import { sessionRoutes } from '../access/session-routes'
import { userRoutes } from '../access/user-routes'
import { invitationRoutes, memberRoutes } from '../access/member-routes'
import { deprecationRoutes } from '../access/deprecation-routes'
import type { Route } from '../access/route'
import { workspaceRoutes } from '../access/workspace-routes'
import { actionRoutes } from '../features/actions/routes'
import { auditRoutes } from '../features/audit/routes'
import { auditStreamRoutes } from '../features/audit/stream-routes'
import { dnsHistoryRoutes } from '../features/dns/history/routes'
import { dnsProviderRoutes } from '../features/dns/accounts/routes'
import { dnsRoutes } from '../features/dns/routes'
import { dnsSyncRoutes } from '../features/dns/sync/routes'
import { dnsTemplateRoutes } from '../features/dns/templates/routes'
import { transferRoutes } from '../features/dns/transfers/routes'
import { eventRoutes } from '../features/events/routes'
import { overviewRoutes } from '../features/overview/routes'
import { pingRoutes, pingTwinRoutes } from '../features/heartbeats/ingest'
import { heartbeatRoutes } from '../features/heartbeats/routes'
import { incidentRoutes } from '../features/incidents/routes'
import { limitRoutes } from '../features/limits/routes'
import { liveRoutes } from '../features/live/routes'
import { monitoringRoutes } from '../features/monitors/monitoring-routes'
import { maintenanceRoutes } from '../features/maintenance/routes'
import { monitorRoutes } from '../features/monitors/routes'
import { monitorSeriesRoutes } from '../features/monitors/series-routes'
import { noticeRoutes } from '../features/notices/routes'
import { notificationRoutes } from '../features/notifications/routes'
import { webhookRoutes } from '../features/webhooks/routes'

/** Every area of the API. */
export const apiAreas: readonly AnyElysia[] = [
  setupRoutes,
  sessionRoutes,
  userRoutes,
  factorRoutes,
  passkeyRoutes,
  passwordResetRoutes,
  signUpRoutes,
  tokenRoutes,
  memberRoutes,
  invitationRoutes,
  workspaceRoutes,
  deprecationRoutes,
  limitRoutes,
  dnsRoutes,
  dnsSyncRoutes,
  dnsHistoryRoutes,
  dnsTemplateRoutes,
  dnsProviderRoutes,
  transferRoutes,
  heartbeatRoutes,
  monitorRoutes,
  incidentRoutes,
  monitorSeriesRoutes,
  monitoringRoutes,
  maintenanceRoutes,
  webhookRoutes,
  eventRoutes,
  liveRoutes,
  overviewRoutes,
  actionRoutes,
  auditRoutes,
  noticeRoutes,
  notificationRoutes,
  auditStreamRoutes,
]

/** What customers' own tools call, each with the credential of one source: under `/v1/ingest`, and at the root where clients have paths built in. */
export const ingestAreas: readonly AnyElysia[] = [pingTwinRoutes, pingRoutes]

/** The operations that areas serve. */
export const specsOf = (areas: readonly AnyElysia[]): Route[] =>
  areas.flatMap(area => area.routes).flatMap(one => (one.hooks as { detail?: { 'x-route'?: Route } }).detail?.['x-route'] ?? [])
