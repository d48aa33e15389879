import { certificateRoutes } from '../features/certificates/routes'
import { coverageRoutes } from '../features/coverage/routes'
import { planRoutes } from '../features/plans/routes'
import { registrarRoutes } from '../features/registrars/routes'
import { cloudAccountRoutes } from '../features/servers/accounts/routes'
import { firewallRoutes } from '../features/servers/firewalls/routes'
import { serverRoutes } from '../features/servers/routes'
import { serverLiveRoutes } from '../features/servers/live/routes'
import { serverMetricRoutes } from '../features/servers/metrics/routes'
import { serverControllerRoutes } from '../features/servers/server-controllers/routes'
import { tokenRoutes } from '../features/tokens/routes'
import { workspaceRoutes } from '../features/workspaces/routes'
import type { AnyElysia } from 'elysia'
import { setupRoutes, signUpRoutes } from '../features/people/sign-up/routes'
import { factorRoutes } from '../features/people/second-factors/routes'
import { passkeyRoutes } from '../features/people/passkeys/routes'
import { passwordResetRoutes } from '../features/people/password-resets/routes'
import { sessionRoutes } from '../features/people/sign-in/routes'
import { userRoutes } from '../features/people/profile/routes'
import { invitationRoutes } from '../features/people/invitations/routes'
import { memberRoutes } from '../features/people/members/routes'
import type { Route } from '../api/route-declaration'
import { managedCertificateRoutes } from '../features/acme/managed-certificates/routes'
import { acmeAccountRoutes } from '../features/acme/accounts/routes'
import { actionRoutes } from '../features/actions/routes'
import { auditRoutes } from '../features/audit/routes'
import { auditStreamRoutes } from '../features/audit/stream-routes'
import { calendarRoutes } from '../features/calendar/routes'
import { contactRoutes } from '../features/contacts/routes'
import { deprecationRoutes } from '../features/deprecations/routes'
import { dnsHistoryRoutes } from '../features/dns/history/routes'
import { dnsProviderRoutes } from '../features/dns/accounts/routes'
import { dnsZoneRoutes } from '../features/dns/zones/routes'
import { dnsRecordRoutes } from '../features/dns/records/routes'
import { dnsExchangeRoutes } from '../features/dns/exchange/routes'
import { dnsLintRoutes } from '../features/dns/lint/routes'
import { dnsDriftRoutes } from '../features/dns/drift/routes'
import { dnsPlanRoutes } from '../features/dns/plans/routes'
import { dnsTargetRoutes } from '../features/dns/targets/routes'
import { dnsTemplateRoutes } from '../features/dns/templates/routes'
import { transferRoutes } from '../features/dns/transfers/routes'
import { dynamicIpRoutes } from '../features/dynamic-ips/routes'
import { eventRoutes } from '../features/events/routes'
import { overviewRoutes } from '../features/overview/routes'
import { dynamicIpClientRoutes, jsonReportRoutes } from '../features/dynamic-ips/ingest/ingest'
import { pingRoutes, jsonPingRoutes } from '../features/heartbeats/pings/ingest'
import { heartbeatRoutes } from '../features/heartbeats/routes'
import { incidentRoutes } from '../features/incidents/routes'
import { installationRoutes } from '../features/installation/routes'
import { limitRoutes } from '../features/limits/routes'
import { liveRoutes } from '../features/live/routes'
import { monitoringRoutes } from '../features/monitors/exchange/routes'
import { maintenanceRoutes } from '../features/maintenance/routes'
import { monitorRoutes } from '../features/monitors/routes'
import { monitorSeriesRoutes } from '../features/monitors/series/routes'
import { noticeRoutes } from '../features/notices/routes'
import { notificationRoutes } from '../features/notifications/routes'
import { registryRoutes } from '../features/registry/routes'
import { volumeRoutes } from '../features/servers/volumes/routes'
import { snapshotPolicyRoutes } from '../features/servers/snapshot-policies/routes'
import { snapshotRoutes } from '../features/servers/snapshots/routes'
import { agentIngestRoutes } from '../features/servers/agents/ingest/ingest'
import { agentRoutes } from '../features/servers/agents/routes'
import { enrolmentKeyRoutes } from '../features/servers/enrolment-keys/routes'
import { sshKeyRoutes } from '../features/servers/ssh-keys/routes'
import { domainRoutes } from '../features/domains/routes'
import { tlsEndpointRoutes } from '../features/tls-endpoints/routes'
import { webhookDeliveryRoutes } from '../features/webhooks/deliveries/routes'
import { webhookEndpointRoutes } from '../features/webhooks/endpoints/routes'
import { eventRelations } from './event-relations'
import { installationState } from './installation-state'

/** All areas of the API. */
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
  planRoutes,
  workspaceRoutes,
  deprecationRoutes,
  installationRoutes(installationState),
  limitRoutes,
  registryRoutes,
  contactRoutes,
  registrarRoutes,
  calendarRoutes,
  dnsZoneRoutes,
  dnsRecordRoutes,
  dnsExchangeRoutes,
  dnsLintRoutes,
  dnsPlanRoutes,
  dnsTargetRoutes,
  dnsDriftRoutes,
  dnsHistoryRoutes,
  dnsTemplateRoutes,
  dnsProviderRoutes,
  transferRoutes,
  dynamicIpRoutes,
  cloudAccountRoutes,
  serverRoutes,
  firewallRoutes,
  serverControllerRoutes,
  serverMetricRoutes,
  serverLiveRoutes,
  volumeRoutes,
  snapshotRoutes,
  snapshotPolicyRoutes,
  sshKeyRoutes,
  agentRoutes,
  enrolmentKeyRoutes,
  acmeAccountRoutes,
  certificateRoutes,
  managedCertificateRoutes,
  coverageRoutes,
  heartbeatRoutes,
  monitorRoutes,
  incidentRoutes,
  monitorSeriesRoutes,
  monitoringRoutes,
  maintenanceRoutes,
  tlsEndpointRoutes,
  domainRoutes,
  webhookEndpointRoutes,
  webhookDeliveryRoutes(eventRelations),
  eventRoutes(eventRelations),
  liveRoutes,
  overviewRoutes,
  actionRoutes,
  auditRoutes,
  noticeRoutes,
  notificationRoutes,
  auditStreamRoutes,
]

/** Routes for customers' tools, with the credential of one source in the URL: under `/v1/ingest`, and at the root for clients with built-in paths. */
export const ingestAreas: readonly AnyElysia[] = [
  jsonPingRoutes,
  pingRoutes,
  jsonReportRoutes,
  dynamicIpClientRoutes,
  agentIngestRoutes,
]

/** Returns the operations of areas. */
export const specsOf = (areas: readonly AnyElysia[]): Route[] =>
  areas.flatMap(area => area.routes).flatMap(one => (one.hooks as { detail?: { 'x-route'?: Route } }).detail?.['x-route'] ?? [])
