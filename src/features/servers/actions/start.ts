import { and, eq } from 'drizzle-orm'
import type { Waiting } from '../../../api/long-poll'
import type { AuditAction } from '../../../core/audit-actions'
import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { NoticeDraft } from '../../../core/notices'
import { pluralize } from '../../../core/pluralize'
import { conflict, invalid, Problem, problemSentence, type FieldProblem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { findRow, lockRow, targetOf } from '../../../core/rows'
import { fieldProblems } from '../../../core/validate'
import { callAdapter } from '../../../adapters/call'
import type { CommandParams } from '../../../wire/agent-command'
import { getAction } from '../../actions/actions'
import type { ActionView } from '../../actions/shapes'
import { addFinishedAction, startAction } from '../../actions/start'
import { catalogOf, type DatedCatalog } from '../accounts/catalog'
import { programFor } from '../agents/agent-files'
import { agentOf, type AgentRow } from '../agents/rows'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { isByAgents, isPossibleIn, waysOf, whyNotByAgent } from '../available-actions'
import { cloudKindOf } from '../clouds'
import { serverVerbs, type CloudKind, type Price, type ServerCommand, type ServerVerb } from '../clouds/cloud'
import { microsOf, priceColumns } from '../money'
import { hasOrderedFirewalls, orderedFirewallProblems } from '../firewalls/ordered'
import { cloudOrderOf, highestPrice, orderProblems, priceOf, sizeOrderOf, slugsOf } from '../order'
import type { AcceptedPrice } from '../price-shapes'
import { actionParams, type ServerActionInput as Input, type ServerOrderView } from '../shapes'
import { lockAccount, requireCurrency, requireSpend } from '../spend'
import { sshKeysOf } from '../ssh-keys/ssh-keys'
import { writeState } from '../state'
import { proofsOf } from '../proofs'
import { controllerStates } from '../states'
import { requireShort, sealUserData } from '../user-data'
import { addressesOf, labelsOf, serverRows, type ServerRow } from '../view'
import { refuseUnlessAllowed, sendForAction } from './by-agent'
import type { ServerActionInput } from './input'
import { serverActionKind } from './kinds'
import { holdSnapshots, newerSnapshotsOf, refuseNewer } from '../snapshots/restore'
import { snapshotPrice } from '../snapshots/snapshot-state'
import { snapshotRows } from '../snapshots/rows'
import { insertSnapshot, lockSnapshotOf, snapshotsLostWith, snapshotView, type NewSnapshot } from '../snapshots/snapshots'
import type { SnapshotCreator, SnapshotView } from '../snapshots/shapes'
import { snapshots } from '../snapshots/tables'
import { holdVolumes, orderedVolumes } from '../volumes/ordered'
import { servers } from '../tables'
import { verbRules } from './verbs'

/**
 * Starts an action on a server, and waits for it if the caller prefers that.
 * @throws Problem 404; 409 `conflict` in a status where it is impossible, `protected`, `resource_locked`, and those of purchases; 412; 422
 */
export async function performServerAction(ctx: Ctx, id: string, input: Input, waiting: Waiting | null): Promise<ActionView> {
  const action = await startServerAction(ctx, id, input)
  return waiting ? await waitForAction(ctx, action.id, waiting) : action
}

/** Waits for an action. If too many requests are waiting, returns at once: the action was started anyway. */
export async function waitForAction(ctx: Ctx, id: string, waiting: Waiting): Promise<ActionView> {
  try {
    return await getAction(ctx, id, waiting)
  } catch (error) {
    if (!(error instanceof Problem) || (error.code !== 'rate_limited' && error.code !== 'overloaded')) throw error
    return await getAction(ctx, id, null)
  }
}

async function startServerAction(ctx: Ctx, id: string, input: Input): Promise<ActionView> {
  const found = await findRow(ctx.hub.read, ctx, serverRows, id)
  const account = await findAccount(ctx, found)
  const controllers = (await controllerStates(ctx.hub.read, [found])).get(id) ?? []
  const agent = await agentOf(ctx.hub.read, id)
  const { verb, via } = chosenWay(input, account, controllers, agent)
  const params = validatedParams(verb, input.params ?? {})
  if (via === 'agent') {
    const program = verb === 'update_agent' ? await programFor(ctx.hub, agent!) : null
    return await change(ctx, `cloud.server.${verb}` as AuditAction, async tx =>
      startByAgent(tx, ctx, await lockRow(tx, ctx, serverRows, id), account, verb, { ...params, program }),
    )
  }
  if (via !== 'cloud' || !account)
    return await change(ctx, `cloud.server.${verb}` as AuditAction, async tx =>
      startByController(tx, ctx, await lockRow(tx, ctx, serverRows, id), account, verb, params, via),
    )
  const catalog = catalogVerbs.has(verb) ? await callAdapter(() => catalogOf(ctx.hub, account, true)) : null
  const restored = verb === 'restore_snapshot' ? (params.snapshot_id as string) : null
  const newer = restored === null ? null : await callAdapter(() => newerSnapshotsOf(ctx.hub, account, id, restored))
  return await change(ctx, `cloud.server.${verb}` as AuditAction, async tx => {
    // Accounts are locked before their servers.
    const locked = catalog ? await lockAccount(tx, account.id) : account
    const row = await lockRow(tx, ctx, serverRows, id)
    return await startOn(tx, ctx, row, locked, verb, newer === null ? params : { ...params, newer }, catalog)
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
  const input = { ...plainInput, verb, via, command: commandOf(row, verb, params), statusBefore: row.status }
  return await started(tx, ctx, row, account, { input, columns: {}, notices: [] })
}

/** Starts an action that the agent performs, in the caller's transaction. The command is part of it. */
async function startByAgent(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow | null,
  verb: ServerVerb,
  params: Record<string, unknown>,
): Promise<ChangeResult<ActionView>> {
  const done = refuseUnlessPossible(row, account, verb)
  if (done) return await unchanged(tx, ctx, row, verb)
  const agent = await agentOf(tx, row.id)
  if (!agent) throw conflict('The agent was removed from the server.')
  if (params.then_force)
    throw invalid([{ pointer: '#/params/then_force', code: 'unsupported', detail: 'is not possible through an agent.' }])
  const input: ServerActionInput = {
    ...plainInput,
    verb,
    via: 'agent',
    statusBefore: row.status,
    ...commandsOf(row, verb, params),
  }
  refuseUnlessAllowed(agent, input)
  const result = await started(tx, ctx, row, account, { input, columns: {}, notices: [] })
  return { ...result, ...(await sendForAction(tx, ctx.hub, result.result.id, agent, ctx.actor, input)) }
}

function commandsOf(
  row: ServerRow,
  verb: ServerVerb,
  params: Record<string, unknown>,
): Pick<ServerActionInput, 'command' | 'agentCommand'> {
  if (verb === 'restart_unit') return { command: null, agentCommand: { verb, unit: params.unit as string } }
  if (verb === 'update_agent')
    return { command: null, agentCommand: { verb, program: params.program as CommandParams['update'] } }
  return verb === 'collect' ? { command: null, agentCommand: { verb } } : { command: commandOf(row, verb, params) }
}

/** @returns whether there is nothing to do @throws Problem 409 */
function refuseUnlessPossible(row: ServerRow, account: CloudAccountRow | null, verb: ServerVerb): boolean {
  if (row.actionId !== null)
    throw new Problem('resource_locked', `The action ${row.actionId} is working on the server. Wait until it has finished.`, {
      fields: { holder: row.actionId },
    })
  if (verbRules[verb].alreadyIn.includes(row.status)) return true
  if (!isPossibleIn(verb, row, account)) throw conflict(`The server is ${row.status}, so the action ${verb} is not possible now.`)
  return false
}

/** Starts the action, and moves the server to the status that it has meanwhile. */
export async function started(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId' | 'actor'>,
  row: ServerRow,
  account: CloudAccountRow | null,
  { input, columns, notices, snapshotIds = [], volumeIds = [] }: Planned,
): Promise<ChangeResult<ActionView>> {
  const { verb } = input
  const rules = verbRules[verb]
  const { action, job } = await startAction(tx, ctx, serverActionKind(verb), {
    resources: [
      { type: 'server', id: row.id },
      ...snapshotIds.map(id => ({ type: 'snapshot', id })),
      ...volumeIds.map(id => ({ type: 'volume', id })),
    ],
    input,
  })
  await holdSnapshots(tx, snapshotIds, action.id)
  await holdVolumes(tx, volumeIds, action.id, ctx.hub.clock.now())
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

/**
 * Starts an action in the caller's transaction.
 * @param account locked if the action can cost something
 * @param pointer JSON pointer of the parameters in the body
 */
export async function startOn(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  verb: ServerVerb,
  params: Record<string, unknown>,
  catalog: DatedCatalog | null,
  pointer = '#/params',
): Promise<ChangeResult<ActionView>> {
  if (refuseUnlessPossible(row, account, verb)) return await unchanged(tx, ctx, row, verb)
  refuseProtected(row, verb)
  if (verb === 'delete') await refuseLostSnapshots(tx, row, params.snapshots === 'destroy')
  const planned = await plan(tx, ctx, row, account, verb, params, catalog, pointer)
  const userData = params.user_data as string | null | undefined
  requireShort(userData, `${pointer}/user_data`)
  const sealed = userData !== undefined && { userDataSealed: await sealUserData(tx, ctx, row, userData) }
  return await started(tx, ctx, row, account, { ...planned, columns: { ...planned.columns, ...sealed } })
}

/** The server already is in the requested state: the action has succeeded without doing anything. */
async function unchanged(tx: Tx, ctx: Ctx, row: ServerRow, verb: ServerVerb): Promise<ChangeResult<ActionView>> {
  const action = await addFinishedAction(tx, ctx, serverActionKind(verb), {
    resources: [{ type: 'server', id: row.id }],
    input: { ...plainInput, verb, statusBefore: row.status },
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
  /** Snapshots that the action works on. */
  snapshotIds?: string[]
  /** Volumes that it attaches to a new server. */
  volumeIds?: string[]
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
  catalog: DatedCatalog | null,
  pointer: string,
): Promise<Planned> {
  requireCurrency(params as AcceptedPrice, pointer)
  if (verb === 'provision') return await planProvision(tx, ctx, row, account, params as AcceptedPrice, catalog!, pointer)
  // Validated by the schema of the verb.
  if (verb === 'snapshot') return await planSnapshot(tx, ctx, row, account, params as unknown as NewSnapshot, catalog, pointer)
  if (verb === 'restore_snapshot') return await planRestore(tx, ctx, row, account, params as RestoreParams, catalog)
  const command = commandOf(row, verb, params)
  const kind = cloudKindOf(account.kind)!
  requireParams(kind, catalog, row, command, params)
  const priced = catalog === null ? null : pricedBy(row, command, params)
  const sendsUserData = typeof params.user_data === 'string'
  const input: ServerActionInput = { ...plainInput, verb, command, priced, sendsUserData, statusBefore: row.status }
  if (!priced) return { input, columns: {}, notices: [] }
  const price = priceOf(kind, catalog!, priced)
  const after = price?.monthlyMicros ?? null
  const isDearer = after === null || row.priceMicros === null || after > row.priceMicros
  const accepted = params as AcceptedPrice
  const notices = isDearer ? await requireSpend(tx, account, price, accepted, { replaces: row.id, at: '#/params' }) : []
  return {
    input: {
      ...input,
      maxPriceMicros: isDearer ? maxPriceOf(accepted, price) : null,
      prices: { before: row.priceMicros, after },
    },
    // The higher price is reserved while the action runs.
    columns: isDearer ? priceColumns(price, catalog!.readAt) : {},
    notices,
  }
}

/** The input of an action that costs nothing. */
export const plainInput = {
  via: 'cloud',
  command: null,
  order: null,
  priced: null,
  maxPriceMicros: null,
  prices: null,
  sendsUserData: false,
}

/** Verbs that depend on the catalog. */
const catalogVerbs: ReadonlySet<ServerVerb> = new Set([
  'provision',
  'resize',
  'rebuild',
  'enable_backups',
  'disable_backups',
  'snapshot',
  'restore_snapshot',
])

/** What the price of a server depends on after a command; null if it stays the same. */
function pricedBy(
  { cloud, location, ...row }: ServerRow,
  command: ServerCommand,
  params: Record<string, unknown>,
): ServerActionInput['priced'] {
  const size = command.verb === 'resize' ? (params.size as ServerOrderView['size']) : (cloud?.size ?? null)
  const hasBackups = cloud?.backups ?? false
  const backups = command.verb === 'enable_backups' || (command.verb !== 'disable_backups' && hasBackups)
  const enable_ipv4 = addressesOf({ cloud, ...row }).some(one => one.family === 4 && one.scope === 'public')
  return size === null || command.verb === 'rebuild' ? null : { size, location, enable_ipv4, backups }
}

/** The highest price that a caller accepts, in millionths: by default, the current one. */
const maxPriceOf = ({ max_monthly_price: max }: AcceptedPrice, price: Price | null): number | null =>
  max === undefined ? (price?.monthlyMicros ?? null) : microsOf(max)

/** @throws Problem 422 for parameters that the cloud would refuse */
function requireParams(
  kind: CloudKind,
  catalog: DatedCatalog | null,
  { location }: ServerRow,
  command: ServerCommand,
  params: Record<string, unknown>,
): void {
  const refuse = (name: string, code: string, detail: string) => invalid([{ pointer: `#/params/${name}`, code, detail }])
  if (command.verb === 'rename' && !new RegExp(kind.capabilities.names.pattern).test(command.name))
    throw refuse('name', 'format', kind.capabilities.names.rule)
  if (command.verb === 'rebuild' && !catalog!.images.some(one => one.slug === command.image))
    throw refuse('image', 'not_found', `There is no image ${command.image}. Images: ${slugsOf(catalog!.images)}.`)
  if (command.verb !== 'resize') return
  const size = params.size as NonNullable<ServerOrderView['size']>
  const isFree = kind.capabilities.sizes === 'free'
  if ((typeof size === 'string') === isFree)
    throw refuse(
      'size',
      'type',
      `must be ${isFree ? 'an object with cores, memory_bytes, and disk_bytes' : 'the slug of a size'}.`,
    )
  const offered = catalog!.sizes.filter(one => one.offers.some(offer => offer.location === location))
  if (typeof size === 'string' && !offered.some(one => one.slug === size))
    throw refuse('size', 'not_found', `${size} is not offered in ${location}. Sizes: ${slugsOf(offered)}.`)
}

async function planProvision(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  accepted: AcceptedPrice,
  catalog: DatedCatalog,
  pointer: string,
): Promise<Planned> {
  const order = row.order
  if (!order) throw conflict('The server was not ordered here.')
  const kind = cloudKindOf(account.kind)!
  const sshKeys = await sshKeysOf(tx, ctx, order.ssh_keys)
  const problems = orderProblems(kind, catalog, row.name, order, {
    hasUserData: row.userDataSealed !== null,
    sshKeyCount: sshKeys.length,
  })
  const attached = await orderedVolumes(tx, ctx, account, order, true)
  problems.push(...attached.problems)
  problems.push(...(await orderedFirewallProblems(ctx, kind, order)))
  if (problems.length > 0) throw invalid(pointer === '#' ? problems : problems.map(ofDraft))
  const price = highestPrice(kind, catalog, order)
  // An order that is sent again has its price reserved already.
  const notices = await requireSpend(tx, account, price, accepted, { replaces: row.id, at: pointer })
  const isSetBefore = kind.capabilities.firewallsOfNew === 'before_start'
  const startsLater = order.start && isSetBefore && (await hasOrderedFirewalls(tx, row))
  const input: ServerActionInput = {
    ...plainInput,
    verb: 'provision',
    statusBefore: row.status,
    ...(startsLater && { after: [{ verb: 'power_on' }] }),
    order: {
      ...cloudOrderOf({ id: row.id, name: row.name, labels: labelsOf(row) }, order, sshKeys, attached.rows),
      ...(startsLater && { start: false }),
      fallbackLocations: order.fallback_locations,
    },
    priced: order,
    maxPriceMicros: maxPriceOf(accepted, price),
    prices: { before: null, after: price?.monthlyMicros ?? null },
  }
  return { input, columns: priceColumns(price, catalog.readAt), notices, volumeIds: attached.rows.map(one => one.id) }
}

/** A problem of the order of a draft, for a request that doesn’t contain the order. */
const ofDraft = (problem: FieldProblem): FieldProblem => ({
  pointer: '#/action',
  code: problem.code,
  detail: `The draft can’t be created at the cloud. ${problemSentence(problem)}`,
})

/**
 * @param isAccepted whether unprotected snapshots may be deleted
 * @throws Problem 409 if snapshots would be deleted with the server
 */
async function refuseLostSnapshots(tx: Tx, { id }: ServerRow, isAccepted: boolean): Promise<void> {
  const lost = await snapshotsLostWith(tx, id)
  const guarded = lost.filter(one => one.protected).length
  if (guarded > 0)
    throw new Problem(
      'protected',
      `${pluralize(guarded, 'protected snapshots')} would be deleted with the server. Update \`protected\` to false first.`,
    )
  const n = lost.length
  if (n === 0 || isAccepted) return
  throw conflict(`${pluralize(n, 'snapshots')} would be deleted with the server. To delete them, send \`snapshots=destroy\`.`)
}

async function planSnapshot(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  params: NewSnapshot & AcceptedPrice,
  catalog: DatedCatalog | null,
  pointer: string,
): Promise<Planned> {
  if (params.includes_memory && !cloudKindOf(account.kind)!.capabilities.snapshots!.memory)
    throw invalid([{ pointer: `${pointer}/includes_memory`, code: 'unsupported', detail: 'is not possible at this cloud.' }])
  const createdBy: SnapshotCreator = params.created_by ?? { type: 'user', id: ctx.actor.id ?? 'unknown' }
  const { command, notices } = await addSnapshot(tx, ctx, row, account, params, createdBy, catalog, params, pointer)
  const isStopped = params.quiesce === 'shutdown' && row.status === 'running'
  const stop = { verb: 'shutdown', timeoutSeconds: 300, thenForce: false } as const
  const around: Pick<ServerActionInput, 'before' | 'after'> = isStopped ? { before: [stop], after: [{ verb: 'power_on' }] } : {}
  return {
    input: { ...plainInput, statusBefore: row.status, verb: 'snapshot', command, ...around },
    columns: {},
    notices,
    snapshotIds: [command.order.mark],
  }
}

/** Adds a snapshot that an action is to create. Its highest price is the one of the whole disk. */
async function addSnapshot(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  input: NewSnapshot,
  createdBy: SnapshotCreator,
  catalog: DatedCatalog | null,
  accepted: AcceptedPrice,
  pointer: string,
) {
  const price = snapshotPrice(catalog, row.cloud?.resources.diskBytes ?? null)
  const notices = await requireSpend(tx, account, price, accepted, { at: pointer })
  const columns = priceColumns(price, catalog?.readAt ?? null)
  const created = await insertSnapshot(tx, ctx, { serverId: row.id }, account, input, createdBy, columns)
  const { id: mark, name, includesMemory, labels } = created
  return { command: { verb: 'snapshot' as const, order: { mark, name, includesMemory, labels } }, notices }
}

interface RestoreParams extends AcceptedPrice {
  snapshot_id?: string
  safety_snapshot?: boolean
  /** Names of newer snapshots, where only the newest one can be restored. Not set by clients. */
  newer?: readonly string[]
}

/** Takes a snapshot before, by default where that costs nothing and the older one can still be restored after it. */
async function planRestore(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  account: CloudAccountRow,
  params: RestoreParams,
  catalog: DatedCatalog | null,
): Promise<Planned> {
  const snapshot = await lockSnapshotOf(tx, ctx, row.id, params.snapshot_id!)
  const { hasPrices } = cloudKindOf(account.kind)!.capabilities
  const command = { verb: 'restore_snapshot' as const, snapshotRef: snapshot.providerRef! }
  const input: ServerActionInput = { ...plainInput, statusBefore: row.status, verb: 'restore_snapshot', command }
  const { newer } = params
  if (newer && params.safety_snapshot) {
    const detail =
      'is not possible: the storage of the server (ZFS) can only restore the newest snapshot, and this one would be newer.'
    throw invalid([{ pointer: '#/params/safety_snapshot', code: 'unsupported', detail }])
  }
  refuseNewer(newer)
  if (!(params.safety_snapshot ?? !(hasPrices || newer))) return { input, columns: {}, notices: [], snapshotIds: [snapshot.id] }
  const name = `Before restoring ${snapshot.name}`.slice(0, 100)
  const createdBy: SnapshotCreator = { type: 'action', id: 'server.restore_snapshot' }
  const safety = await addSnapshot(tx, ctx, row, account, { name }, createdBy, catalog, params, '#/params')
  return {
    input: { ...input, before: [safety.command] },
    columns: {},
    notices: safety.notices,
    snapshotIds: [snapshot.id, safety.command.order.mark],
  }
}

/** Creates a snapshot of a server. @throws Problem 403, 409, 422, 424 */
export async function createServerSnapshot(ctx: Ctx, id: string, params: NewSnapshot & AcceptedPrice): Promise<SnapshotView> {
  const [found] = await ctx.hub.read
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), eq(servers.workspaceId, ctx.workspaceId)))
  if (!found || !canAccess(ctx, id))
    throw invalid([{ pointer: '#/server_id', code: 'not_found', detail: 'There is no server with this ID.' }])
  return await inSnapshot(ctx, found, 'cloud.snapshot.create', params, async (tx, started) => {
    const { result: action, jobs, events, notices } = started
    const [created] = await tx.select().from(snapshots).where(eq(snapshots.actionId, action.id))
    const after = snapshotView(created!)
    return { result: after, target: targetOf(snapshotRows, created!), after, jobs, events, notices }
  })
}

/** Starts a snapshot of a server. @throws Problem 403, 404, 409, 422, 424 */
export const startSnapshot = (ctx: Ctx, server: ServerRow, params: NewSnapshot & AcceptedPrice): Promise<ActionView> =>
  inSnapshot(ctx, server, 'cloud.server.snapshot', params, async (_, started) => started)

async function inSnapshot<T>(
  ctx: Ctx,
  server: ServerRow,
  action: AuditAction,
  params: NewSnapshot & AcceptedPrice,
  result: (tx: Tx, started: ChangeResult<ActionView>) => Promise<ChangeResult<T>>,
): Promise<T> {
  const account = await findAccount(ctx, server)
  chosenWay({ action: 'snapshot', via: 'cloud' }, account, [])
  const { hasPrices } = cloudKindOf(account!.kind)!.capabilities
  const catalog = hasPrices ? await callAdapter(() => catalogOf(ctx.hub, account!, true)) : null
  return await change(ctx, action, async tx => {
    const locked = await lockAccount(tx, account!.id)
    const row = await lockRow(tx, ctx, serverRows, server.id)
    return await result(tx, await startOn(tx, ctx, row, locked, 'snapshot', { ...params }, catalog, '#'))
  })
}

/** The action that a request names, and the way to perform it. @throws Problem 422 `unsupported_action` */
function chosenWay(
  { action: name, via }: Input,
  account: CloudAccountRow | null,
  controllers: readonly { kind: string }[],
  agent?: AgentRow,
): { verb: ServerVerb; via: string } {
  const verb = serverVerbs.find(one => one === name.replaceAll('-', '_'))
  const ways = verb ? waysOf(verb, account, controllers, agent) : []
  const chosen = via === undefined ? ways[0] : ways.find(one => one === via)
  if (verb && chosen !== undefined) return { verb, via: chosen }
  if (verb && ways.length > 0)
    throw invalid([{ pointer: '#/via', code: 'unsupported', detail: `must be one of ${ways.join(', ')}.` }])
  const supported = serverVerbs.filter(one => waysOf(one, account, controllers, agent).length > 0)
  const detail =
    verb && agent && isByAgents(verb)
      ? whyNotByAgent(agent, verb)
      : supported.length === 0
        ? 'The server has no cloud account, no controller, and no agent that reports and performs actions, so there are no actions for it.'
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
    case 'snapshot':
    case 'restore_snapshot':
    case 'set_labels':
    case 'restart_unit':
    case 'collect':
    case 'update_agent':
      throw new TypeError(`${verb} is planned elsewhere`)
    case 'shutdown':
      return { verb, timeoutSeconds: params.timeout_seconds ?? 120, thenForce: params.then_force ?? false }
    case 'rename':
      return { verb, name: params.name }
    case 'resize':
      return { verb, size: sizeOrderOf(params.size), upgradeDisk: params.upgrade_disk ?? false }
    case 'rebuild':
      return { verb, image: params.image, userData: null }
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
async function findAccount(ctx: Ctx, row: ServerRow): Promise<CloudAccountRow | null> {
  if (row.accountId === null) return null
  const own = and(eq(cloudAccounts.id, row.accountId), eq(cloudAccounts.workspaceId, ctx.workspaceId))
  const [account] = await ctx.hub.read.select().from(cloudAccounts).where(own)
  return account ?? null
}
