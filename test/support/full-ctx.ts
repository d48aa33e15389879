import { jobContext, systemActor } from '../../src/core/change'
import type { Ctx } from '../../src/core/ctx'
import { fullAccess } from '../../src/core/permissions'

/** The context of a caller with full access to a workspace, to call operations without the API. */
export const fullCtx = (hub: Ctx['hub'], workspaceId: string): Ctx => ({
  hub,
  workspaceId,
  sessionId: null,
  actor: systemActor('test'),
  context: jobContext,
  resourceIds: null,
  permissions: fullAccess,
  operator: true,
  limits: {},
  planId: 'unlimited',
  ifMatch: null,
  idempotency: null,
})
