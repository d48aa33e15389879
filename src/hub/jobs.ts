import type { JobKind } from '../core/jobs/job'
import { mailInvitationJob } from '../access/mail-invitation'
import { mailPasswordResetJob } from '../access/mail-password-reset'
import { compareLimitsJob } from '../features/limits/excess'
import { clearZoneJob } from '../features/dns/clear-zone'
import { notifyJob } from '../features/dns/transfers/notify'
import { streamJob } from '../features/audit/stream-deliver'
import { checkProviderJob } from '../features/dns/accounts/check'
import { actionJob } from '../features/actions/run'
import { applyAction } from '../features/dns/sync/apply-plan'
import { rolloutAction } from '../features/dns/templates/rollout'
import { refreshAction } from '../features/dns/sync/refresh'
import { syncZoneJob } from '../features/dns/sync/sync-zone'
import { writeToldJob } from '../features/incidents/told'
import { endAcknowledgementJob } from '../features/incidents/acknowledgement'
import { deliverJob as notificationJob } from '../features/notifications/deliver'
import { noticeJob } from '../features/notifications/notice-messages'
import { remindJob } from '../features/notifications/remind'
import { deliverJob } from '../features/webhooks/deliver'
import { followAliasesJob } from '../features/dns/aliases/follow'
import { resolveAliasJob } from '../features/dns/aliases/refresh'
import { forgetSeriesJob } from '../features/monitors/series/forget'
import { dispatchJob } from '../features/webhooks/dispatch'
import { recoverAction } from '../features/webhooks/recovery'
import { promoteJob } from '../features/webhooks/secret-rotation'
import { releaseJob } from '../features/webhooks/standing'

/** Every kind of background work. */
export const jobKinds: readonly JobKind[] = [
  dispatchJob,
  deliverJob,
  releaseJob,
  promoteJob,
  compareLimitsJob,
  streamJob,
  resolveAliasJob,
  followAliasesJob,
  clearZoneJob,
  checkProviderJob,
  notifyJob,
  endAcknowledgementJob,
  writeToldJob,
  notificationJob,
  noticeJob,
  remindJob,
  actionJob(recoverAction),
  actionJob(applyAction),
  actionJob(rolloutAction),
  actionJob(refreshAction),
  syncZoneJob,
  mailPasswordResetJob,
  mailInvitationJob,
  forgetSeriesJob,
] as JobKind[]

/** Jobs that each event starts. */
export const eventJobs: readonly string[] = [dispatchJob.kind]

/** Jobs that each notice starts. */
export const noticeJobs: readonly string[] = [noticeJob.kind]
