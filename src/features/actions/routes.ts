import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { actionListing, cancelAction, cancelAudit, getAction, listActions } from './actions'
import { Action, ActionList } from './shapes'

export const actionRoutes = area('actions', 'Actions', [
  route({
    method: 'GET',
    path: '/v1/actions',
    guard: 'signed_in',
    operationId: 'listActions',
    summary: 'List actions',
    description: 'Work in the background, newest first, in the areas the caller may read. Kept for 30 days after its end.',
    query: listQuery(actionListing),
    answer: ActionList,
    run: (ctx, { query }) => listActions(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/actions/:id',
    guard: 'signed_in',
    operationId: 'getAction',
    summary: 'Read an action',
    description:
      'How an action stands, if the caller may read its area. With `Prefer: wait=N` the answer comes once it has ended, or ' +
      'after N seconds.',
    answer: Action,
    narrowed: 'verb',
    waits: true,
    problems: ['overloaded'],
    run: (ctx, { params, waiting }) => getAction(ctx, params.id!, waiting),
  }),
  route({
    method: 'POST',
    path: '/v1/actions/:id/cancel',
    guard: 'signed_in',
    action: cancelAudit,
    operationId: 'cancelAction',
    summary: 'Call an action off',
    description:
      'Ends an action that is `cancellable`: at once when it was not begun, else after the part of the work under way. What was ' +
      'done stays. Needs write permission on the area of the action.',
    status: 202,
    answer: Action,
    narrowed: 'verb',
    problems: ['conflict'],
    run: (ctx, { params }) => cancelAction(ctx, params.id!),
  }),
])
