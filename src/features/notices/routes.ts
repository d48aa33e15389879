import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { getNotice, listNotices, noticeListing, readNotices, updateNotice } from './notices'
import { Notice, NoticeList, NoticePatch, NoticesMarked, NoticesRead } from './shapes'

export const noticeRoutes = area('notices', 'Notices', [
  route({
    method: 'GET',
    path: '/v1/notices',
    guard: 'account.read',
    operationId: 'listNotices',
    summary: 'List notices',
    description:
      'What the people of the workspace should know of, the latest first. How many are unread is `pagination.total` with ' +
      '`read=false&include=total`.',
    query: listQuery(noticeListing),
    answer: NoticeList,
    run: (ctx, { query }) => listNotices(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/notices/:id',
    guard: 'account.read',
    operationId: 'getNotice',
    summary: 'Read a notice',
    description: 'One notice. Reading it does not mark it as read.',
    answer: Notice,
    narrowed: 'verb',
    run: (ctx, { params }) => getNotice(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/notices/:id',
    guard: 'account.write',
    action: 'account.notice.update',
    operationId: 'updateNotice',
    summary: 'Mark a notice',
    description: 'Marks a notice as read, or as unread again. It is the same for everybody in the workspace.',
    body: NoticePatch,
    answer: Notice,
    narrowed: 'verb',
    run: (ctx, { params, body }) => updateNotice(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/notices/read',
    guard: 'account.write',
    action: 'account.notice.read',
    operationId: 'readNotices',
    summary: 'Mark notices as read',
    description:
      'Marks as read every notice up to the one named, or until a time; all of them when neither is given. Name what was seen: ' +
      'what came up meanwhile then stays unread.',
    body: NoticesRead,
    answer: NoticesMarked,
    problems: ['not_found'],
    run: (ctx, { body }) => readNotices(ctx, body),
  }),
])
