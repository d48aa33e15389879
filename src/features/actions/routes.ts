import { area, route } from '../../api/route'
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
    description:
      'Lists the actions in the areas you have read permission for, newest first. Actions are deleted 30 days after they finish.',
    query: listQuery(actionListing),
    response: ActionList,
    run: (ctx, { query }) => listActions(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/actions/:id',
    guard: 'signed_in',
    operationId: 'getAction',
    summary: 'Get an action',
    description:
      'Returns an action, including its progress and result. Requires read permission on the area of the action. With ' +
      '`Prefer: wait=N`, the response is sent when the action has finished, or after N seconds. On each hub, up to 50 requests per workspace can wait ' +
      'at the same time; more return 429.',
    response: Action,
    restrictedTokens: 'handler',
    longPoll: true,
    problems: ['overloaded'],
    run: (ctx, { params, waiting }) => getAction(ctx, params.id!, waiting),
  }),
  route({
    method: 'POST',
    path: '/v1/actions/:id/cancel',
    guard: 'signed_in',
    action: cancelAudit,
    operationId: 'cancelAction',
    summary: 'Cancel an action',
    description:
      'Cancels an action that is `cancelable`: immediately if it has not started, otherwise after the current part of the work. ' +
      'Work already done is not undone. An action that can’t be canceled, or has finished, returns 409. Requires write permission on the area of the action.',
    status: 202,
    response: Action,
    restrictedTokens: 'handler',
    problems: ['conflict', 'insufficient_permission'],
    run: (ctx, { params }) => cancelAction(ctx, params.id!),
  }),
])
