import { record } from '../core/change'
import type { AuditContext } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { Problem, permissionMissing } from '../core/problem'
import { authenticateAgain } from './authenticate'
import { type Caller, isAllowedAddress } from './callers'
import type { Guarded } from './guard'
import { sessionRequired } from './sessions'
import { workspaceSuspended } from './suspension'

/**
 * Refuses a caller who may not use the operation, and audits it.
 * @throws Problem 403
 */
export async function authorize(
  hub: Hub,
  spec: Guarded,
  caller: Caller,
  request: Request,
  ip: string,
  context: AuditContext,
): Promise<void> {
  try {
    if (caller.session && spec.method !== 'GET') checkOrigin(hub, request)
    if (!isAllowedAddress(caller, ip)) {
      throw new Problem('address_not_allowed', 'This token may not be used from this IP address.')
    }
    if (spec.guard === 'session' && !caller.session) throw sessionRequired(hub)
    if (caller.suspended && !spec.whileSuspended) throw workspaceSuspended(caller.suspended)
    if (caller.apiAccess === 'none' || (caller.apiAccess === 'read' && spec.method !== 'GET')) {
      const has = caller.apiAccess === 'none' ? 'does not include API access' : 'includes read-only API access'
      throw new Problem(
        'plan_no_api_access',
        `The plan ${caller.planId} ${has}. Sign in at ${hub.baseUrl}, or ask the operator for another plan.`,
        { fields: { plan: caller.planId } },
      )
    }
    if (spec.guard === 'operator' && !caller.operator) {
      throw new Problem(
        'insufficient_permission',
        'Only the operator of this installation can do this: signed in, or with a full token of the operator’s workspace.',
        {
          fields: { required_permission: 'operator' },
        },
      )
    }
    if (spec.guard.includes('.') && !caller.permissions.has(spec.guard as never)) throw permissionMissing(spec.guard)
    if (!hasParameters(spec) && !isReachable(spec, caller, {})) {
      throw new Problem(
        'restricted_token',
        'This token is restricted to specific resources. It can’t create resources or access workspace-wide data.',
      )
    }
  } catch (error) {
    if (error instanceof Problem) await auditDenial(hub, spec, caller, context, error)
    throw error
  }
}

/** Authorizes a caller again after a wait. @throws Problem 401, 403, 404 */
export async function reauthorize(
  hub: Hub,
  spec: Guarded,
  before: Caller,
  request: Request,
  ip: string,
  context: AuditContext,
): Promise<void> {
  const caller = await authenticateAgain(hub, request, before)
  await authorize(hub, spec, caller, request, ip, context)
  const lost = [...before.permissions].find(one => one.endsWith('.read') && !caller.permissions.has(one))
  if (lost) await refusePermission(hub, spec, caller, context, lost)
}

/** Refuses a request that lacks a permission, and audits it. @throws Problem 403 `insufficient_permission` */
export async function refusePermission(
  hub: Hub,
  spec: Guarded,
  caller: Caller,
  context: AuditContext,
  permission: string,
): Promise<never> {
  const problem = permissionMissing(permission)
  await auditDenial(hub, spec, caller, context, problem)
  throw problem
}

/** Whether a restricted token may call the operation: lists, and paths below one of its resources. */
export function isReachable(spec: Guarded, caller: Pick<Caller, 'resourceIds'>, params: Record<string, string>): boolean {
  if (caller.resourceIds === null || spec.restrictedTokens) return true
  return hasParameters(spec)
    ? caller.resourceIds.has(params.id ?? '')
    : spec.method === 'GET' && spec.query?.properties.cursor !== undefined
}

export const hasParameters = (spec: Guarded): boolean => spec.path.includes(':')

/** Browsers send Origin with every write. The custom header cannot be sent by a form of another site. */
function checkOrigin(hub: Hub, request: Request): void {
  requireOwnOrigin(hub, request)
  if (request.headers.get('bailiwick-csrf') !== '1')
    throw new Problem('origin_not_allowed', 'A write with a session requires the header Bailiwick-Csrf: 1.')
}

export function requireOwnOrigin(hub: Hub, request: Request): void {
  const origin = request.headers.get('origin')
  const own = new URL(request.url)
  const asSeen = `${hub.baseUrl.startsWith('https:') ? 'https:' : own.protocol}//${request.headers.get('host') ?? own.host}`
  if (origin === null || (origin !== asSeen && origin !== hub.baseUrl))
    throw new Problem('origin_not_allowed', 'The Origin header must match this site.')
}

async function auditDenial(hub: Hub, spec: Guarded, caller: Caller, context: AuditContext, problem: Problem): Promise<void> {
  await record(hub, async () => ({
    result: undefined,
    audits: [
      {
        workspaceId: caller.workspaceId,
        action: spec.action ?? 'account.resource.read',
        outcome: 'denied' as const,
        actor: caller.actor,
        context,
        targets: [],
        reason: `${spec.method} ${spec.path}: ${problem.detail}`,
      },
    ],
  }))
}
