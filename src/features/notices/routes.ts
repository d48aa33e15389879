import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { getNotice, listNotices, noticeListing, markNoticesRead, updateNotice } from './notices'
import { Notice, NoticeList, NoticePatch, MarkNoticesReadResult, MarkNoticesReadInput } from './shapes'

export const noticeRoutes = area('notices', 'Notices', [
  ...crud({
    type: 'notice',
    response: Notice,
    list: {
      listing: noticeListing,
      description:
        'Lists the notices of the workspace, newest first. A notice tells the members of a workspace that something needs attention; the dashboard shows it. ' +
        'Read notices are deleted after 90 days, unread ones after a year. To count unread ones, read `pagination.total` with `read=false&include=total`.',
      response: NoticeList,
      run: listNotices,
    },
    get: {
      description: 'Returns a notice. This does not mark it as read.',
      restrictedTokens: 'handler',
      run: getNotice,
    },
    update: {
      description: 'Marks a notice as read or unread, for all members of the workspace.',
      body: NoticePatch,
      restrictedTokens: 'handler',
      run: updateNotice,
    },
  }),
  route({
    method: 'POST',
    path: '/v1/notices/read',
    guard: 'account.write',
    action: 'account.notice.read',
    operationId: 'markNoticesRead',
    summary: 'Mark notices as read',
    description:
      'Marks notices as read: up to a given notice, up to a given time, or all of them. Pass the latest notice you have displayed, so that ' +
      'newer ones remain unread.',
    body: MarkNoticesReadInput,
    response: MarkNoticesReadResult,
    problems: ['not_found'],
    run: (ctx, { body }) => markNoticesRead(ctx, body),
  }),
])
