import { eq } from 'drizzle-orm'
import { notices } from '../../../core/db/tables'
import type { JobKind } from '../../../core/jobs/job'
import type { NoticeKind } from '../../../core/notices'
import { noticeKinds } from '../../notice-kinds'
import { noticeKind } from './delivery-jobs'
import type { Message } from '../message'
import { notify } from './notify'

/** Notifies channels of a new or repeated notice. */
export const noticeJob: JobKind<{ notice_id: string }> = {
  kind: noticeKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 30_000,
  async run(hub, { payload }) {
    return async tx => {
      const [notice] = await tx.select().from(notices).where(eq(notices.id, payload.notice_id))
      if (!notice) return { result: undefined }
      const message = messageOf(notice, hub.baseUrl)
      const { jobs } = await notify(tx, hub, { workspaceId: notice.workspaceId, message, channelIds: null })
      return { result: undefined, jobs }
    }
  },
}

function messageOf(notice: typeof notices.$inferSelect, baseUrl: string): Message {
  const { resourceType, resourceId, resourceName } = notice
  const nameSuffix = resourceName === null ? '' : `: ${resourceName}`
  return {
    kind: notice.kind,
    state: 'information',
    severity: notice.severity,
    title: `${noticeKinds[notice.kind as NoticeKind]?.title ?? notice.kind}${nameSuffix}`,
    text: notice.text,
    facts: notice.count > 1 ? [['Occurrences', String(notice.count)]] : [],
    link: `${baseUrl}/notices`,
    acknowledgeLink: null,
    thread: notice.id,
    resource: resourceType === null || resourceId === null ? null : { type: resourceType, id: resourceId, name: resourceName },
    tags: [],
    occurredAt: notice.occurredAt,
  }
}
