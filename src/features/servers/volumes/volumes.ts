import { and, count, eq, isNotNull, isNull, notInArray } from 'drizzle-orm'
import type { Waiting } from '../../../api/long-poll'
import { refuseOverLimit } from '../../../access/plans'
import { callAdapter } from '../../../adapters/call'
import type { AuditAction } from '../../../core/audit-actions'
import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Reader, Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import { idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { editableView, inputColumns, memberView, patchColumns } from '../../../core/members'
import { pluralize } from '../../../core/pluralize'
import { conflict, invalid, Problem, type FieldProblem } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { changedRow, findRow, insertRow, lockRow, removeRow, saveRow, targetOf } from '../../../core/rows'
import { fieldProblems } from '../../../core/validate'
import { getAction } from '../../actions/actions'
import type { ActionView } from '../../actions/shapes'
import { addFinishedAction, startAction } from '../../actions/start'
import { accountOf } from '../accounts/accounts'
import { catalogOf, type DatedCatalog } from '../accounts/catalog'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { cloudKindOf } from '../clouds'
import { isLabeled } from '../clouds/label-change'
import type { Catalog, Price, VolumeCapabilities, VolumeCommand, VolumeOrder } from '../clouds/cloud'
import { listingByLabel, saveLabels, selectorFilter } from '../label-filter'
import { microsOf, priceColumns, priceOfRow } from '../money'
import { noLocation, slugsOf } from '../order'
import type { AcceptedPrice } from '../price-shapes'
import { holdSnapshots, newerSnapshotsOf, refuseNewer } from '../snapshots/restore'
import { lockSnapshotOf } from '../snapshots/snapshots'
import { snapshots } from '../snapshots/tables'
import { lockAccount, requireCurrency, requireSpend } from '../spend'
import { servers } from '../tables'
import type { ServerRow } from '../view'
import { plainInput, volumeActionKind, type VolumeActionInput as Input } from './kinds'
import { volumeRows, type VolumeRow } from './rows'
import {
  volumeActionParams,
  volumeActions,
  volumeMembers,
  volumeStates,
  type VolumeActionInput,
  type VolumeActionName,
  type VolumeInput,
  type VolumePatch,
  type VolumeState,
  type VolumeView,
} from './shapes'
import { volumeLabels, volumes } from './tables'
import { refuseBusyVolume, volumePrice } from './volume-state'

export const volumeListing = listingOf('volumes', volumes, {
  accessColumn: volumes.serverId,
  filters: {
    ids: idsFilter(volumes.id),
    state: wordsFilter(volumes.state, volumeStates, 'Only volumes in these states.'),
    server_id: textFilter(volumes.serverId, 'Only volumes that are attached to this server.'),
    account_id: textFilter(volumes.accountId, 'Only volumes in this cloud account.'),
    location: textFilter(volumes.location, 'Only volumes in this location.'),
    ...selectorFilter('volumes', volumes.id, volumeLabels),
    q: searchFilter([volumes.name], 'Only volumes whose name contains all words of this text.'),
    ...timeFilters('created_at', volumes.createdAt),
  },
  sorts: ['name', 'created_at'],
})

export const volumeView = (row: VolumeRow): VolumeView => ({
  id: row.id,
  ...memberView(volumeMembers, row),
  account_id: row.accountId,
  provider_ref: row.providerRef,
  origin: row.origin,
  server_id: row.serverId,
  location: row.location,
  size_bytes: row.sizeBytes,
  used_bytes: row.usedBytes,
  format: row.format,
  device: row.device,
  mount_path: row.mountPath,
  state: row.state,
  protection: { delete: row.isProtected },
  price: priceOfRow(row),
  action_id: row.actionId,
  ...editableView(row),
})

export async function listVolumes(ctx: Ctx, query: Record<string, unknown>) {
  return await listPage(ctx, await listingByLabel(ctx, volumeListing, volumeLabels, query), query, volumeView)
}

/** @throws Problem 404 */
export const getVolume = async (ctx: Ctx, id: string): Promise<VolumeView> =>
  volumeView(await findRow(ctx.hub.read, ctx, volumeRows, id))

/**
 * Creates a volume at a cloud, and attaches it if a server is named.
 * @throws Problem 403 `plan_limit_reached`, `spend_cap_reached`; 409; 422; 424
 */
export async function createVolume(ctx: Ctx, input: VolumeInput, waiting: Waiting | null): Promise<VolumeView> {
  requireCurrency(input)
  const account = await accountFor(ctx, input.account_id)
  const can = capabilitiesOf(account, '#/account_id')
  const server = input.server_id == null ? null : await serverFor(ctx.hub.read, ctx, account.id, input.server_id, '#/server_id')
  const catalog = await callAdapter(() => catalogOf(ctx.hub, account, true))
  const location = server?.location ?? input.location ?? null
  const problems = [
    ...sizeProblems(can, input.size_bytes, '#/size_bytes'),
    ...orderProblems(account, can, catalog, input, server),
  ]
  if (problems.length > 0) throw invalid(problems)
  const price = volumePrice(catalog, input.size_bytes)
  const created = await change(ctx, 'cloud.volume.create', async tx => {
    const locked = await lockAccount(tx, account.id)
    await refuseOverLimit(tx, ctx, 'volume')
    const notices = await requireSpend(tx, locked, price, input)
    const now = ctx.hub.clock.now()
    const row = await insertRow(tx, ctx, volumeRows, {
      id: newId('vol'),
      ...inputColumns(volumeMembers, input),
      ...{ accountId: account.id, serverId: null, providerRef: null, origin: 'made', state: 'creating' },
      ...{ sizeBytes: input.size_bytes, location, format: input.format ?? null, device: null, mountPath: null, usedBytes: null },
      ...{ isProtected: false, ...priceColumns(price, catalog.readAt), actionId: null, writtenAt: now },
    })
    await saveLabels(tx, volumeLabels, ctx.workspaceId, [{ id: row.id, before: {}, after: row.labels }])
    const order: VolumeOrder = {
      ...{ mark: row.id, name: row.name, sizeBytes: input.size_bytes, location, format: row.format, labels: row.labels },
    }
    const attach = server && attachment(server, input.mount_path)
    const { job, row: after } = await start(tx, ctx, row, 'creating', {
      command: { verb: 'create', order },
      ...(attach && { after: attach }),
      maxPriceMicros: maxPriceOf(input, price),
      priceBefore: null,
    })
    return { result: volumeView(after), target: targetOf(volumeRows, after), after: volumeView(after), jobs: [job], notices }
  })
  if (!waiting) return created
  await getAction(ctx, created.action_id!, waiting)
  return await getVolume(ctx, created.id)
}

/** The highest price that a caller accepts, in millionths: by default, the current one. */
const maxPriceOf = ({ max_monthly_price: max }: AcceptedPrice, price: Price | null): number | null =>
  max === undefined ? (price?.monthlyMicros ?? null) : microsOf(max)

/** The account that a request names. @throws Problem 422 */
async function accountFor(ctx: Ctx, id: string): Promise<CloudAccountRow> {
  try {
    return await accountOf(ctx, id)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    throw invalid([{ pointer: '#/account_id', code: 'not_found', detail: 'There is no cloud account with this ID.' }])
  }
}

function capabilitiesOf({ kind }: CloudAccountRow, pointer: string): VolumeCapabilities {
  const { title, capabilities } = cloudKindOf(kind)!
  if (capabilities.volumes) return capabilities.volumes
  throw invalid([{ pointer, code: 'unsupported', detail: `${title} has no volumes: disks belong to their server.` }])
}

/** A server of the account that exists there. @throws Problem 422 */
async function serverFor(read: Reader, ctx: Ctx, accountId: string, id: string, pointer: string): Promise<ServerRow> {
  const [server] = await read
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), eq(servers.workspaceId, ctx.workspaceId), isNull(servers.deletedAt)))
  const refuse = (code: string, detail: string) => invalid([{ pointer, code, detail }])
  if (!server || !canAccess(ctx, id)) throw refuse('not_found', 'There is no server with this ID.')
  if (server.accountId !== accountId) throw refuse('account', 'The server must be in the same cloud account as the volume.')
  if (server.providerRef === null || server.status === 'missing')
    throw refuse('status', 'The server does not exist at the cloud.')
  return server
}

function sizeProblems({ minBytes, maxBytes, stepBytes }: VolumeCapabilities, size: number, pointer: string): FieldProblem[] {
  if (size >= minBytes && size <= maxBytes && size % stepBytes === 0) return []
  const detail = `must be a multiple of ${stepBytes} between ${minBytes} and ${maxBytes} bytes.`
  return [{ pointer, code: 'range', detail }]
}

function orderProblems(
  { kind }: CloudAccountRow,
  can: VolumeCapabilities,
  { locations }: Catalog,
  input: VolumeInput,
  server: ServerRow | null,
): FieldProblem[] {
  const problems: FieldProblem[] = []
  const refuse = (field: string, code: string, detail: string) => problems.push({ pointer: `#/${field}`, code, detail })
  const slugs = slugsOf(locations)
  const { location, format } = input
  if (!new RegExp(can.names.pattern).test(input.name)) refuse('name', 'format', can.names.rule)
  if (server && location != null && location !== server.location)
    refuse('location', 'conflict', `must be ${server.location}, the location of the server.`)
  else if (!server && location == null && cloudKindOf(kind)!.capabilities.needsLocation)
    refuse('location', 'required', `is required without a server. Locations: ${slugs}.`)
  else if (!server && location != null && !locations.some(one => one.slug === location))
    refuse('location', 'not_found', noLocation(location, locations))
  if (format != null && !can.formats.includes(format)) refuse('format', 'unsupported', formatProblem(kind, can))
  if (input.mount_path != null && !can.isMounted) refuse('mount_path', 'unsupported', unmounted(kind))
  return problems
}

function formatProblem(kind: string, { formats }: VolumeCapabilities): string {
  const { title } = cloudKindOf(kind)!
  return formats.length === 0
    ? `${title} does not format volumes.`
    : `${title} can format volumes with ${formats.join(' or ')} only.`
}

const unmounted = (kind: string): string => `${cloudKindOf(kind)!.title} does not mount volumes. Mount it in the server.`

const attachment = (server: ServerRow, mountPath: string | null | undefined): VolumeCommand => ({
  verb: 'attach',
  serverRef: server.providerRef!,
  mountPath: mountPath ?? null,
})

/** Starts an action on a volume. */
async function start(
  tx: Tx,
  ctx: Ctx,
  row: VolumeRow,
  state: VolumeState,
  input: Input,
  serverId: string | null = null,
  snapshotIds: readonly string[] = [],
) {
  const { action, job } = await startAction(tx, ctx, volumeActionKind(input.command.verb), {
    resources: [
      { type: 'volume', id: row.id },
      ...(serverId === null ? [] : [{ type: 'server', id: serverId }]),
      ...snapshotIds.map(one => ({ type: 'snapshot', id: one })),
    ],
    input,
  })
  const [after] = await tx
    .update(volumes)
    .set({ actionId: action.id, state, writtenAt: ctx.hub.clock.now() })
    .where(eq(volumes.id, row.id))
    .returning()
  return { action, job, row: after! }
}

/**
 * Updates the name and labels of a volume, also at its cloud: the name always, labels if it was created here.
 * @throws Problem 404; 409; 412; 422
 */
export const updateVolume = (ctx: Ctx, id: string, patch: VolumePatch): Promise<VolumeView> =>
  change(ctx, 'cloud.volume.update', async tx => {
    const before = await lockRow(tx, ctx, volumeRows, id)
    const after = await saveRow(tx, ctx, volumeRows, before, patchColumns(volumeMembers, patch))
    if (after === before) return await changedRow(volumeRows, before, after, volumeView)
    await saveLabels(tx, volumeLabels, ctx.workspaceId, [{ id, before: before.labels, after: after.labels }])
    const sent = await sendUpdate(tx, ctx, before, after)
    return { ...(await changedRow(volumeRows, before, sent?.row ?? after, volumeView)), ...(sent && { jobs: [sent.job] }) }
  })

/** Starts the action that updates a volume at its cloud; undefined if nothing changes there. @throws Problem 409, 422 */
async function sendUpdate(tx: Tx, ctx: Ctx, before: VolumeRow, after: VolumeRow) {
  const isRenamed = after.name !== before.name
  const removed = Object.keys(before.labels).filter(key => !Object.hasOwn(after.labels, key))
  const labels = after.origin === 'made' ? { set: after.labels, remove: removed } : { set: {}, remove: [] }
  const isRelabeled = after.origin === 'made' && !isLabeled(before.labels, labels)
  if (!isRenamed && !isRelabeled) return undefined
  if (before.providerRef === null && before.actionId === null) return undefined
  refuseBusyVolume(before)
  const [account] = await tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, after.accountId))
  const can = cloudKindOf(account!.kind)!.capabilities.volumes!
  if (isRenamed && !new RegExp(can.names.pattern).test(after.name))
    throw invalid([{ pointer: '#/name', code: 'format', detail: can.names.rule }])
  if (isRenamed && !can.renamedInUse && before.state === 'in_use')
    throw conflict(`The volume is attached to ${before.serverId ?? 'a server'}. Detach it before you rename it.`)
  if (before.state === 'missing') throw conflict('The volume no longer exists at the cloud.')
  if (isRenamed) await refuseBusySnapshots(tx, after.id)
  const isMade = after.origin === 'made'
  const command = { verb: 'update', mark: after.id, isMade, name: isRenamed ? after.name : null, labels } as const
  return await start(tx, ctx, after, after.state, { ...plainInput, command })
}

/** The refs of snapshots change with the name of their volume. @throws Problem 409 `resource_locked` */
async function refuseBusySnapshots(tx: Tx, volumeId: string): Promise<void> {
  const [busy] = await tx
    .select({ id: snapshots.id, actionId: snapshots.actionId })
    .from(snapshots)
    .where(and(eq(snapshots.volumeId, volumeId), isNotNull(snapshots.actionId)))
    .limit(1)
  if (!busy) return
  const detail = `The action ${busy.actionId} is working on the snapshot ${busy.id} of the volume. Wait until it has finished.`
  throw new Problem('resource_locked', detail, { fields: { holder: busy.actionId } })
}

/**
 * Deletes a volume, at its cloud too.
 * @returns the action that deletes it there; undefined if it does not exist there
 * @throws Problem 404; 409; 412
 */
export const deleteVolume = (ctx: Ctx, id: string): Promise<ActionView | undefined> =>
  change<ActionView | undefined>(ctx, 'cloud.volume.delete', async tx => {
    const row = await lockRow(tx, ctx, volumeRows, id)
    refuseBusyVolume(row)
    const before = volumeView(row)
    if (row.providerRef === null || row.state === 'missing') {
      await removeRow(tx, volumeRows, row)
      return { result: undefined, target: targetOf(volumeRows, row), before }
    }
    if (row.isProtected)
      throw new Problem(
        'protected',
        'The volume is protected from deletion. Remove the protection with the action `set_protection`.',
      )
    if (row.state === 'in_use') throw conflict(`The volume is attached to ${row.serverId ?? 'a server'}. Detach it first.`)
    const [kept] = await tx
      .select({ n: count() })
      .from(snapshots)
      .where(and(eq(snapshots.volumeId, id), notInArray(snapshots.state, ['missing', 'error'])))
    if (kept!.n > 0)
      throw conflict(`The volume has ${pluralize(kept!.n, 'snapshots')}, which would be deleted with it. Delete them first.`)
    const { action, job } = await start(tx, ctx, row, 'deleting', { ...plainInput, command: { verb: 'delete' } })
    return { result: action, target: targetOf(volumeRows, row), before, jobs: [job] }
  })

/** Starts an action on a volume, and waits for it if the caller prefers that. @throws Problem 404; 409; 412; 422 */
export async function performVolumeAction(
  ctx: Ctx,
  id: string,
  input: VolumeActionInput,
  waiting: Waiting | null,
): Promise<ActionView> {
  const found = await findRow(ctx.hub.read, ctx, volumeRows, id)
  const [account] = await ctx.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, found.accountId))
  const can = cloudKindOf(account!.kind)?.capabilities.volumes ?? null
  const name = nameOf(input.action, can)
  const params = input.params ?? {}
  const problems = fieldProblems(volumeActionParams[name], params, '#/params')
  if (problems.length > 0) throw invalid(problems)
  const catalog =
    name === 'resize' && cloudKindOf(account!.kind)!.capabilities.hasPrices
      ? await callAdapter(() => catalogOf(ctx.hub, account!, true))
      : null
  const newer =
    name === 'restore_snapshot'
      ? await callAdapter(() => newerSnapshotsOf(ctx.hub, account!, id, String(params.snapshot_id)))
      : null
  const action = await change(ctx, `cloud.volume.${name}` as AuditAction, async tx => {
    const locked = name === 'resize' ? await lockAccount(tx, account!.id) : account!
    return await startOn(tx, ctx, await lockRow(tx, ctx, volumeRows, id), locked, can!, name, params, catalog, newer)
  })
  return waiting ? await getAction(ctx, action.id, waiting) : action
}

/** @throws Problem 422 `unsupported_action` */
function nameOf(text: string, can: VolumeCapabilities | null): VolumeActionName {
  const isPossible = {
    attach: true,
    detach: true,
    resize: true,
    set_protection: can?.protection,
    restore_snapshot: can?.snapshots,
  }
  const supported = volumeActions.filter(one => can && isPossible[one])
  const name = supported.find(one => one === text.replaceAll('-', '_'))
  if (name) return name
  const detail = `The volume doesn’t support the action ${text}. Supported: ${supported.join(', ')}.`
  throw new Problem('unsupported_action', detail, {
    fields: { supported },
    errors: [{ pointer: '#/action', code: 'unsupported', detail }],
  })
}

async function startOn(
  tx: Tx,
  ctx: Ctx,
  row: VolumeRow,
  account: CloudAccountRow,
  can: VolumeCapabilities,
  name: VolumeActionName,
  params: Record<string, any>,
  catalog: DatedCatalog | null,
  newer: readonly string[] | null,
): Promise<ChangeResult<ActionView>> {
  refuseBusyVolume(row)
  if (row.state !== 'available' && row.state !== 'in_use')
    throw conflict(`The volume is ${row.state}, so the action ${name} is not possible now.`)
  const target = targetOf(volumeRows, row)
  const unchanged = async (command: VolumeCommand): Promise<ChangeResult<ActionView>> => ({
    result: await addFinishedAction(tx, ctx, volumeActionKind(command.verb), {
      ...{ resources: [{ type: 'volume', id: row.id }], input: { ...plainInput, command }, result: { unchanged: true } },
    }),
    target,
    reason: 'Nothing had to be done.',
  })
  const begin = async (
    state: VolumeState,
    input: Input,
    serverId: string | null = null,
    snapshotIds: readonly string[] = [],
  ): Promise<ChangeResult<ActionView>> => {
    const { action, job } = await start(tx, ctx, row, state, input, serverId, snapshotIds)
    return { result: action, target, after: { state }, jobs: [job] }
  }
  switch (name) {
    case 'attach': {
      const server = await serverFor(tx, ctx, account.id, params.server_id, '#/params/server_id')
      const command = attachment(server, params.mount_path)
      if (params.mount_path != null && !can.isMounted)
        throw invalid([{ pointer: '#/params/mount_path', code: 'unsupported', detail: unmounted(account.kind) }])
      if (row.serverId === server.id) return await unchanged(command)
      if (row.state === 'in_use')
        throw conflict(`The volume is attached to ${row.serverId ?? 'another server'}. Detach it first.`)
      if (row.location !== null && server.location !== row.location)
        throw invalid([
          {
            pointer: '#/params/server_id',
            code: 'location',
            detail: `The server is in ${server.location}, but the volume is in ${row.location}. Volumes can’t be moved.`,
          },
        ])
      return await begin('attaching', { ...plainInput, command }, server.id)
    }
    case 'detach': {
      if (row.state === 'available') return await unchanged({ verb: 'detach' })
      await refuseMounted(tx, row, params.force ?? false)
      return await begin('detaching', { ...plainInput, command: { verb: 'detach' } }, row.serverId)
    }
    case 'restore_snapshot': {
      if (row.state === 'in_use')
        throw conflict(`The volume is attached to ${row.serverId ?? 'a server'}. Detach it before you restore it.`)
      const snapshot = await lockSnapshotOf(tx, ctx, row.id, params.snapshot_id)
      refuseNewer(newer)
      const restore = { verb: 'restore_snapshot', snapshotRef: snapshot.providerRef! } as const
      const done = await begin('restoring', { ...plainInput, command: restore }, null, [snapshot.id])
      await holdSnapshots(tx, [snapshot.id], done.result.id)
      return done
    }
    case 'resize':
      return await resize(tx, row, account, can, params as AcceptedPrice & { size_bytes: number }, catalog, {
        begin,
        unchanged,
      })
    case 'set_protection': {
      const command = { verb: 'set_protection', isProtected: params.delete as boolean } as const
      return row.isProtected === command.isProtected
        ? await unchanged(command)
        : await begin(row.state, { ...plainInput, command })
    }
  }
}

interface Ways {
  begin(state: VolumeState, input: Input): Promise<ChangeResult<ActionView>>
  unchanged(command: VolumeCommand): Promise<ChangeResult<ActionView>>
}

async function resize(
  tx: Tx,
  row: VolumeRow,
  account: CloudAccountRow,
  can: VolumeCapabilities,
  params: AcceptedPrice & { size_bytes: number },
  catalog: DatedCatalog | null,
  { begin, unchanged }: Ways,
): Promise<ChangeResult<ActionView>> {
  const { size_bytes: sizeBytes } = params
  const command = { verb: 'resize', sizeBytes } as const
  const pointer = '#/params/size_bytes'
  if (row.sizeBytes !== null && sizeBytes < row.sizeBytes)
    throw invalid([
      { pointer, code: 'range', detail: `must be at least ${row.sizeBytes} bytes, the current size. Volumes can only grow.` },
    ])
  requireCurrency(params, '#/params')
  if (row.sizeBytes === sizeBytes) return await unchanged(command)
  const problems = sizeProblems(can, sizeBytes, pointer)
  if (problems.length > 0) throw invalid(problems)
  const price = volumePrice(catalog, sizeBytes)
  const notices = await requireSpend(tx, account, price, params, { replaces: row.id, at: '#/params' })
  if (price) await tx.update(volumes).set(priceColumns(price, catalog!.readAt)).where(eq(volumes.id, row.id))
  const input = { command, maxPriceMicros: maxPriceOf(params, price), priceBefore: row.priceMicros }
  return { ...(await begin('resizing', input)), notices }
}

/** A volume that is or may be mounted in a running server is not detached. @throws Problem 409 */
async function refuseMounted(tx: Tx, { mountPath, serverId }: VolumeRow, isForced: boolean): Promise<void> {
  if (isForced || serverId === null) return
  const [server] = await tx.select().from(servers).where(eq(servers.id, serverId))
  if (!server || server.status === 'off') return
  throw conflict(
    mountPath === null
      ? `The volume may be mounted in ${server.name}. Unmount it and send \`force: true\`, or shut the server down first.`
      : `The volume is mounted at ${mountPath} in ${server.name}. Shut the server down first, or send \`force: true\`.`,
  )
}
