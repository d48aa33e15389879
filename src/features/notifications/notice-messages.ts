import { eq } from 'drizzle-orm'
import { notices } from '../../core/db/tables'
import type { JobKind } from '../../core/jobs/job'
import { noticeKinds, type NoticeKind } from '../../core/notices'
import { noticeKind } from './delivery-jobs'
import type { Message } from './message'
import { tell } from './tell'

/** Tells channels of a notice that was given, or given again. */
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
      const { jobs } = await tell(tx, hub, { workspaceId: notice.workspaceId, message, channelIds: null })
      return { result: undefined, jobs }
    }
  },
}

function messageOf(notice: typeof notices.$inferSelect, baseUrl: string): Message {
  const { resourceType, resourceId, resourceName } = notice
  const named = resourceName === null ? '' : `: ${resourceName}`
  return {
    kind: notice.kind,
    state: 'information',
    severity: notice.severity,
    title: `${noticeKinds[notice.kind as NoticeKind]?.title ?? notice.kind}${named}`,
    text: notice.text,
    facts: notice.count > 1 ? [['Told before', `${notice.count - 1} times`]] : [],
    link: `${baseUrl}/`,
    acknowledgeLink: null,
    thread: notice.id,
    resource: resourceType === null || resourceId === null ? null : { type: resourceType, id: resourceId, name: resourceName },
    tags: [],
    occurredAt: notice.occurredAt,
  }
}
