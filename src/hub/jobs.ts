import { addChangeHint } from '../core/change-hints'
import type { Tx } from '../core/db/transaction'
import type { JobDraft } from '../core/jobs/draft'
import type { JobKind } from '../core/jobs/job'
import { mailInvitationJob } from '../features/people/invitations/mail'
import { mailPasswordResetJob } from '../features/people/password-resets/mail'
import { compareLimitsJob } from '../features/limits/excess'
import { clearZoneJob } from '../features/dns/zones/clear-zone'
import { notifyJob } from '../features/dns/transfers/notify'
import { streamJob } from '../features/audit/stream-deliver'
import { checkProviderJob } from '../features/dns/accounts/accounts'
import { issueAction } from '../features/acme/managed-certificates/issue'
import { readRenewalInfoJob } from '../features/acme/managed-certificates/renew-due'
import { revokeAction } from '../features/acme/managed-certificates/revoke'
import { checkAcmeAccountJob } from '../features/acme/accounts/accounts'
import { checkRegistrarAccountJob } from '../features/registrars/accounts'
import { syncRegistrarAccountJob } from '../features/registrars/sync'
import { registrarSyncAction } from '../features/registrars/sync-action'
import { checkCloudAccountJob } from '../features/servers/accounts/accounts'
import { forgetStatesJob, syncAccountJob } from '../features/servers/accounts/sync'
import { syncAction } from '../features/servers/accounts/sync-action'
import { readPowerJob } from '../features/servers/server-controllers/read-power'
import { checkControllerJob } from '../features/servers/server-controllers/server-controllers'
import { serverActionKinds } from '../features/servers/actions/kinds'
import { volumeActionKinds } from '../features/servers/volumes/kinds'
import { runPolicyJob } from '../features/servers/snapshot-policies/run'
import { snapshotActionKinds } from '../features/servers/snapshots/kinds'
import { applyKind } from '../features/servers/firewalls/apply'
import { enforceFirewallJob } from '../features/servers/firewalls/enforce'
import { enforceHostJob } from '../features/servers/firewalls/enforce-host'
import { actionJob } from '../features/actions/run'
import { applyAction } from '../features/dns/plans/apply-plan'
import { rolloutAction } from '../features/dns/templates/rollout'
import { refreshAction } from '../features/dns/sync/refresh'
import { syncZoneJob } from '../features/dns/sync/sync-zone'
import { recordOutcomeJob } from '../features/incidents/notification-outcomes'
import { expireAcknowledgementJob } from '../features/incidents/acknowledgement'
import { deliverJob as notificationJob } from '../features/notifications/delivery/deliver'
import { noticeJob } from '../features/notifications/delivery/notice-messages'
import { remindJob } from '../features/notifications/delivery/remind'
import { deliverJob } from '../features/webhooks/sending/deliver'
import { verifyJob } from '../features/certificates/paths'
import { checkRevocationJob } from '../features/certificates/revocation/check-revocation'
import { searchCtJob } from '../features/coverage/ct/search-ct'
import { workOutGapsJob } from '../features/coverage/work-out-gaps'
import { followAliasesJob } from '../features/dns/aliases/follow-aliases'
import { removeOldSourcesJob, retryHostsJob } from '../features/dynamic-ips/retry-hosts'
import { resolveAliasJob } from '../features/dns/aliases/resolve-alias'
import { deleteSeriesJob } from '../features/monitors/series/delete-series'
import { scanJob } from '../features/tls-endpoints/scans/scan-job'
import { dispatchJob } from '../features/webhooks/sending/dispatch'
import { recoverAction } from '../features/webhooks/deliveries/recovery'
import { promoteJob } from '../features/webhooks/endpoints/secret-rotation'
import { applyFactsJob } from '../features/domains/apply-facts'
import { lookJob } from '../features/registry/look'
import { releaseJob } from '../features/webhooks/sending/holds'

/** All kinds of background jobs. */
export const jobKinds: readonly JobKind[] = [
  dispatchJob,
  deliverJob,
  releaseJob,
  promoteJob,
  compareLimitsJob,
  streamJob,
  resolveAliasJob,
  retryHostsJob,
  removeOldSourcesJob,
  followAliasesJob,
  clearZoneJob,
  checkProviderJob,
  checkRegistrarAccountJob,
  syncRegistrarAccountJob,
  actionJob(registrarSyncAction),
  checkCloudAccountJob,
  checkAcmeAccountJob,
  actionJob(issueAction),
  actionJob(revokeAction),
  readRenewalInfoJob,
  syncAccountJob,
  forgetStatesJob,
  runPolicyJob,
  checkControllerJob,
  readPowerJob,
  actionJob(syncAction),
  ...serverActionKinds.map(actionJob),
  ...volumeActionKinds.map(actionJob),
  ...snapshotActionKinds.map(actionJob),
  actionJob(applyKind),
  enforceFirewallJob,
  enforceHostJob,
  notifyJob,
  expireAcknowledgementJob,
  recordOutcomeJob,
  notificationJob,
  noticeJob,
  remindJob,
  actionJob(recoverAction),
  actionJob(applyAction),
  actionJob(rolloutAction),
  actionJob(refreshAction),
  syncZoneJob,
  verifyJob,
  checkRevocationJob,
  workOutGapsJob,
  searchCtJob,
  mailPasswordResetJob,
  mailInvitationJob,
  deleteSeriesJob,
  scanJob,
  lookJob,
  applyFactsJob,
] as JobKind[]

/** Jobs enqueued for every event. */
export const eventJobs: readonly string[] = [dispatchJob.kind]

/** Publishes a new or repeated notice. Returns the jobs that send notifications for it. */
export function onNotice(tx: Tx, workspaceId: string, id: string): JobDraft[] {
  addChangeHint(tx, { workspaceId, action: 'account.notice.create', type: 'notice', id, parentId: null })
  return [{ kind: noticeJob.kind, payload: { notice_id: id }, uniqueKey: id }]
}
