import { and, eq } from 'drizzle-orm'
import type { Waiting } from '../../../api/long-poll'
import type { AuditAction } from '../../../core/audit-actions'
import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { NoticeDraft } from '../../../core/notices'
import { conflict, invalid, Problem } from '../../../core/problem'
import { findRow, lockRow, targetOf } from '../../../core/rows'
import { sealedIn } from '../../../core/outgoing/signing-secrets'
import { fieldProblems } from '../../../core/validate'
import { callAdapter } from '../../../adapters/call'
import { getAction } from '../../actions/actions'
import type { ActionView } from '../../actions/shapes'
import { addFinishedAction, startAction } from '../../actions/start'
import { catalogOf } from '../accounts/catalog'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { isPossibleIn, waysOf } from '../available-actions'
import { cloudKindOf } from '../clouds'
import { serverVerbs, type Catalog, type Price, type ServerCommand, type ServerVerb } from '../clouds/cloud'
import { microsOf } from '../money'
import { cloudOrderOf, highestPrice, orderProblems, priceOf, sizeOrderOf } from '../order'
import { actionParams, type AcceptedPrice, type ServerActionInput as Input, type ServerOrderView } from '../shapes'
import { lockAccount, requireSpend } from '../spend'
import { sshKeysOf } from '../ssh-keys/ssh-keys'
import { writeState } from '../state'
import { proofsOf } from '../proofs'
import { controllerStates } from '../states'
import { servers } from '../tables'
import { addressesOf, labelsOf, serverRows, type ServerRow } from '../view'
import { serverActionKind, type ServerActionInput } from './kinds'
import { verbRules } from './verbs'

/**
 * Starts an action on a server, and waits for it if the caller prefers that.
 * @throws Problem 404; 409 `conflict` in a status where it is impossible, `protected`, `resource_locked`, and those of purchases; 412; 422
 */
export async function performServerAction(ctx: Ctx, id: string, input: Input, waiting: Waiting | null): Promise<ActionView> {
  const action = await startServerAction(ctx, id, input)
  return waiting ? await getAction(ctx, action.id, waiting) : action
}

async function startServerAction(ctx: Ctx, id: string, input: Input): Promise<ActionView> {
  const found = await findRow(ctx.hub.read, ctx, serverRows, id)
  const account = await findAccount(ctx, found)
  const controllers = (await controllerStates(ctx.hub.read, [found])).get(id) ?? []
  const { verb, via } = chosenWay(input, account, controllers)
  const params = validatedParams(verb, input.params ?? {})
  if (via !== 'cloud' || !account)
    return await change(ctx, `cloud.server.${verb}` as AuditAction, async tx =>
      startByController(tx, ctx, await lockRow(tx, ctx, serverRows, id), account, verb, params, via),
    )
  const catalog = verb === 'provision' || verb === 'resize' ? await callAdapter(() => catalogOf(ctx.hub, account, true)) : null
  return await change(ctx, `cloud.server.${verb}` as AuditAction, async tx => {
    // Accounts are locked before their servers.
    const locked = catalog ? await lockAccount(tx, account.id) : account
    const row = await lockRow(tx, ctx, serverRows, id)
    return await startOn(tx, ctx, row, locked, verb, params, catalog)
  })
}

/** Starts an action that a controller performs, in the caller's transaction. */
async function startByController(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow | null,
  verb: ServerVerb,
  params: Record<string, unknown>,
  via: string,
): Promise<ChangeResult<ActionView>> {
  const done = refuseUnlessPossible(row, account, verb)
  if (done) return await unchanged(tx, ctx, row, verb)
  const input = { verb, via, command: commandOf(row, verb, params), order: null, maxPriceMicros: null, prices: null }
  return await started(tx, ctx, row, account, { input, columns: {}, notices: [] })
}

/** @returns whether there is nothing to do @throws Problem 409 */
function refuseUnlessPossible(row: ServerRow, account: CloudAccountRow | null, verb: ServerVerb): boolean {
  if (row.actionId !== null) return false
  if (verbRules[verb].alreadyIn.includes(row.status)) return true
  if (!isPossibleIn(verb, row.status, account))
    throw conflict(`The server is ${row.status}, so the action ${verb} is not possible now.`)
  return false
}

/** Starts the action, and moves the server to the status that it has meanwhile. */
async function started(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow | null,
  { input, columns, notices }: Planned,
): Promise<ChangeResult<ActionView>> {
  const { verb } = input
  const rules = verbRules[verb]
  const { action, job } = await startAction(tx, ctx, serverActionKind(verb), {
    resources: [{ type: 'server', id: row.id }],
    input,
  })
  const { events } = await writeState(
    tx,
    ctx.hub,
    row,
    {
      actionId: action.id,
      writtenAt: ctx.hub.clock.now(),
      ...(rules.passing !== null && { status: rules.passing }),
      ...columns,
    },
    await proofsOf(tx, row, account),
    { source: 'action', reason: `The action ${verb} was started.` },
  )
  return {
    result: action,
    target: targetOf(serverRows, row),
    after: { status: rules.passing ?? row.status },
    jobs: [job],
    events,
    notices,
  }
}

/** Starts an action in the caller's transaction. @param account locked if the action can cost something */
export async function startOn(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  verb: ServerVerb,
  params: Record<string, unknown>,
  catalog: Catalog | null,
): Promise<ChangeResult<ActionView>> {
  if (refuseUnlessPossible(row, account, verb)) return await unchanged(tx, ctx, row, verb)
  refuseProtected(row, verb)
  const planned = await plan(tx, ctx, row, account, verb, params, catalog)
  const userData = params.user_data as string | null | undefined
  const sealed = userData !== undefined && { userDataSealed: await sealUserData(tx, ctx, row, userData) }
  return await started(tx, ctx, row, account, { ...planned, columns: { ...planned.columns, ...sealed } })
}

/** Encrypts user data for its column. */
export const sealUserData = async (tx: Tx, ctx: Ctx, row: Pick<ServerRow, 'id' | 'workspaceId'>, text: string | null) =>
  text === null ? null : await ctx.hub.keys.seal(tx, sealedIn(servers, row, 'user_data_sealed'), text)

/** The server is as wanted already: the action has succeeded without doing anything. */
async function unchanged(tx: Tx, ctx: Ctx, row: ServerRow, verb: ServerVerb): Promise<ChangeResult<ActionView>> {
  const action = await addFinishedAction(tx, ctx, serverActionKind(verb), {
    resources: [{ type: 'server', id: row.id }],
    input: { verb, via: 'cloud', command: null, order: null, maxPriceMicros: null, prices: null },
    result: { unchanged: true },
  })
  return {
    result: action,
    target: targetOf(serverRows, row),
    reason: 'Nothing had to be done.',
  }
}

interface Planned {
  input: ServerActionInput
  columns: Partial<ServerRow>
  notices: NoticeDraft[]
}

async function plan(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  verb: ServerVerb,
  params: Record<string, unknown>,
  catalog: Catalog | null,
): Promise<Planned> {
  if (verb === 'provision') return await planProvision(tx, ctx, row, account, params as AcceptedPrice, catalog!)
  const command = commandOf(row, verb, params)
  const input: ServerActionInput = { verb, via: 'cloud', command, order: null, maxPriceMicros: null, prices: null }
  if (command.verb !== 'resize') return { input, columns: {}, notices: [] }
  const size = params.size as NonNullable<ServerOrderView['size']>
  const kind = cloudKindOf(account.kind)!
  if ((typeof size === 'string') !== (kind.capabilities.sizes === 'catalog'))
    throw invalid([
      {
        pointer: '#/params/size',
        code: 'type',
        detail: `must be ${kind.capabilities.sizes === 'catalog' ? 'the slug of a size' : 'an object with cores, memory_bytes, and disk_bytes'}.`,
      },
    ])
  if (typeof size === 'string' && !catalog!.sizes.some(one => one.slug === size))
    throw invalid([
      {
        pointer: '#/params/size',
        code: 'not_found',
        detail: `There is no size ${size}. Sizes: ${catalog!.sizes.map(one => one.slug).join(', ')}.`,
      },
    ])
  const price = priceOf(kind, catalog!, {
    size,
    location: row.location,
    enable_ipv4: addressesOf(row).some(one => one.family === 4 && one.scope === 'public'),
    backups: row.cloud?.backups ?? false,
  })
  const notices = await requireSpend(tx, account, price, params as AcceptedPrice, row.id)
  return {
    input: { ...input, prices: { before: row.priceMicros, after: price?.monthlyMicros ?? null } },
    columns: priceColumns(price, ctx.hub.clock.now()),
    notices,
  }
}

/** The columns of a price. */
export const priceColumns = (price: Price | null, now: number) => ({
  priceMicros: price?.monthlyMicros ?? null,
  priceCurrency: price?.currency ?? null,
  priceAt: price ? now : null,
})

async function planProvision(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  accepted: AcceptedPrice,
  catalog: Catalog,
): Promise<Planned> {
  const order = row.order
  if (!order) throw conflict('The server was not ordered here.')
  const kind = cloudKindOf(account.kind)!
  const sshKeys = await sshKeysOf(tx, ctx, order.ssh_keys)
  const problems = orderProblems(kind, catalog, row.name, order, {
    hasUserData: row.userDataSealed !== null,
    sshKeyCount: sshKeys.length,
  })
  if (problems.length > 0) throw invalid(problems)
  const price = highestPrice(kind, catalog, order)
  const notices = await requireSpend(tx, account, price, accepted)
  const input: ServerActionInput = {
    verb: 'provision',
    via: 'cloud',
    command: null,
    order: {
      ...cloudOrderOf({ id: row.id, name: row.name, labels: labelsOf(row) }, order, sshKeys),
      fallbackLocations: order.fallback_locations,
      details: order,
    },
    maxPriceMicros:
      accepted.max_monthly_price === undefined ? (price?.monthlyMicros ?? null) : microsOf(accepted.max_monthly_price),
    prices: { before: null, after: price?.monthlyMicros ?? null },
  }
  return { input, columns: priceColumns(price, ctx.hub.clock.now()), notices }
}

/** The action that a request names, and the way to perform it. @throws Problem 422 `unsupported_action` */
function chosenWay(
  { action: name, via }: Input,
  account: CloudAccountRow | null,
  controllers: readonly { kind: string }[],
): { verb: ServerVerb; via: string } {
  const verb = serverVerbs.find(one => one === name.replaceAll('-', '_'))
  const ways = verb ? waysOf(verb, account, controllers) : []
  const chosen = via === undefined ? ways[0] : ways.find(one => one === via)
  if (verb && chosen !== undefined) return { verb, via: chosen }
  if (verb && ways.length > 0)
    throw invalid([{ pointer: '#/via', code: 'unsupported', detail: `must be one of ${ways.join(', ')}.` }])
  const supported = serverVerbs.filter(one => waysOf(one, account, controllers).length > 0)
  const detail =
    supported.length === 0
      ? 'The server has no cloud account and no controller, so there are no actions for it.'
      : `The server doesn’t support the action ${name}. Supported: ${supported.join(', ')}.`
  throw new Problem('unsupported_action', detail, {
    fields: { supported },
    errors: [{ pointer: '#/action', code: 'unsupported', detail }],
  })
}

/** @throws Problem 422 */
function validatedParams(verb: ServerVerb, params: Record<string, unknown>): Record<string, unknown> {
  const shape = verb in actionParams ? actionParams[verb as keyof typeof actionParams] : null
  const [unknown] = shape ? [] : Object.keys(params)
  if (unknown !== undefined)
    throw invalid([{ pointer: `#/params/${unknown}`, code: 'unknown', detail: `The action ${verb} has no parameters.` }])
  const problems = shape ? fieldProblems(shape, params, '#/params') : []
  if (problems.length > 0) throw invalid(problems)
  return params
}

function commandOf(row: ServerRow, verb: ServerVerb, params: Record<string, any>): Exclude<ServerCommand, { verb: 'provision' }> {
  switch (verb) {
    case 'provision':
      throw new TypeError('provision has an order')
    case 'shutdown':
      return { verb, timeoutSeconds: params.timeout_seconds ?? 120, thenForce: params.then_force ?? false }
    case 'rename':
      return { verb, name: params.name }
    case 'resize':
      return { verb, size: sizeOrderOf(params.size), upgradeDisk: params.upgrade_disk ?? false }
    case 'rebuild':
      return { verb, image: params.image, userData: params.user_data ?? null }
    case 'set_protection': {
      const current = row.cloud?.protection ?? { delete: false, rebuild: false }
      return { verb, protection: { delete: params.delete ?? current.delete, rebuild: params.rebuild ?? current.rebuild } }
    }
    default:
      return { verb }
  }
}

/** @throws Problem 409 `protected` */
function refuseProtected({ cloud }: ServerRow, verb: ServerVerb): void {
  if ((verb === 'delete' && cloud?.protection.delete) || (verb === 'rebuild' && cloud?.protection.rebuild))
    throw new Problem(
      'protected',
      `The server is protected from the action ${verb}. Remove the protection with the action \`set_protection\`.`,
    )
}

/** The account of a server; null if it has none. */
export async function findAccount(ctx: Ctx, row: ServerRow): Promise<CloudAccountRow | null> {
  if (row.accountId === null) return null
  const own = and(eq(cloudAccounts.id, row.accountId), eq(cloudAccounts.workspaceId, ctx.workspaceId))
  const [account] = await ctx.hub.read.select().from(cloudAccounts).where(own)
  return account ?? null
}
