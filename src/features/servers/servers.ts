import { isDeepStrictEqual } from 'node:util'
import { eq, isNull } from 'drizzle-orm'
import type { Waiting } from '../../api/long-poll'
import { countOf, refuseOverLimit } from '../../access/plans'
import { callAdapter } from '../../adapters/call'
import { auditDrafts, change } from '../../core/change'
import { instant } from '../../core/clock'
import type { ChangeResult, Consequences } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { listingOf, listPage } from '../../core/list'
import { idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { inputColumns, patchColumns } from '../../core/members'
import { classOf, formatAddress, parseAddress } from '../../core/net/address'
import { pluralize } from '../../core/pluralize'
import { conflict, invalid, Problem, type FieldProblem } from '../../core/problem'
import { canAccess } from '../../core/resource-access'
import { changedRow, findRow, insertRow, lockRow, saveRow, targetOf } from '../../core/rows'
import type { Page } from '../../core/shapes'
import type { ActionView } from '../actions/shapes'
import { monitorNewServer, removeMonitorsOf } from '../monitors/of-servers'
import { monitorsOfServers, monitorStatusesOf } from '../monitors/statuses'
import { accountOf } from './accounts/accounts'
import { catalogOf, type DatedCatalog } from './accounts/catalog'
import { cloudAccounts } from './accounts/tables'
import type { CloudAccountRow } from './accounts/view'
import { provisionSteps } from './actions/kinds'
import { needsLabels, startSetLabels } from './actions/labels'
import { startOn, waitForAction } from './actions/start'
import { isMime, withScript } from './agents/agent-user-data'
import { agentFilter } from './agents/filter'
import { agentScriptAt } from './agents/install'
import { agentsOf } from './agents/rows'
import { forgetCertificates } from './certificates/inventory'
import { cloudKindOf } from './clouds'
import type { ServerAddress } from './clouds/cloud'
import { insertEnrolmentKey } from './enrolment-keys/enrolment-keys'
import { blockedByAttachments, type AttachmentChange } from './firewalls/change-rules'
import { orderedFirewallProblems, type OrderedFirewalls } from './firewalls/ordered'
import { requireAllowed } from './firewalls/rule-operations'
import { followLabels } from './firewalls/selectors'
import { firewallIdsOf } from './firewalls/view'
import { listingByLabel, saveLabels, selectorFilter } from './label-filter'
import { nullableAmount } from './money'
import { highestPrice, orderProblems } from './order'
import {
  orderMembers,
  orderOf,
  powerStates,
  serverHealths,
  serverKinds,
  serverMembers,
  serverOrigins,
  serverStatuses,
  type ServerDeletion,
  type ServerInput,
  type ServerOrderView,
  type ServerPatch,
  type ServerQuoteView,
  type ServerView,
} from './shapes'
import type { AcceptedPrice } from './price-shapes'
import { acceptedProblems, committedMicros, lockAccount, requireCurrency, requireSpend } from './spend'
import { defaultSshKeys, sshKeysOf } from './ssh-keys/ssh-keys'
import { serverLabels, servers } from './tables'
import { requireShort, sealUserData } from './user-data'
import { proofsOf } from './proofs'
import { writeState } from './state'
import { accountStates, controllerStates, volumeIdsOf } from './states'
import { orderedVolumes } from './volumes/ordered'
import { labelsOf, serverRows, serverView, type ServerRow } from './view'

export const serverListing = listingOf('servers', servers, {
  condition: isNull(servers.deletedAt),
  filters: {
    ids: idsFilter(servers.id),
    status: wordsFilter(servers.status, serverStatuses, 'Only servers with these statuses.'),
    health: wordsFilter(servers.health, serverHealths, 'Only servers with these health statuses.'),
    power: wordsFilter(servers.power, powerStates, 'Only servers in these power states.'),
    kind: wordsFilter(servers.kind, serverKinds, 'Only servers of these kinds.'),
    origin: wordsFilter(servers.origin, serverOrigins, 'Only servers of these origins.'),
    account_id: textFilter(servers.accountId, 'Only servers of this cloud account.'),
    location: textFilter(servers.location, 'Only servers in this location.'),
    agent_state: agentFilter,
    ...selectorFilter('servers', servers.id, serverLabels),
    q: searchFilter([servers.name, servers.notes], 'Only servers whose name or notes contain all words of this text.'),
    ...timeFilters('created_at', servers.createdAt),
  },
  sorts: ['name', 'created_at'],
})

/** Lists the servers of the workspace. Deleted ones are not included. */
export async function listServers(ctx: Ctx, query: Record<string, unknown>): Promise<Page<ServerView>> {
  const listing = await listingByLabel(ctx, serverListing, serverLabels, query)
  const page = await listPage(ctx, listing, query, (row: ServerRow) => row)
  return { ...page, data: await serverViews(ctx.hub.read, page.data) }
}

/** @throws Problem 404 */
export const getServer = async (ctx: Ctx, id: string): Promise<ServerView> =>
  viewOf(ctx.hub.read, await findRow(ctx.hub.read, ctx, serverRows, id))

const viewOf = async (read: Reader, row: ServerRow): Promise<ServerView> => (await serverViews(read, [row]))[0]!

/** Converts servers to their API form. */
export async function serverViews(read: Reader, rows: readonly ServerRow[]): Promise<ServerView[]> {
  const [accounts, controllers] = [await accountStates(read, rows), await controllerStates(read, rows)]
  const [volumeIds, known] = [await volumeIdsOf(read, rows), await agentsOf(read, rows)]
  const firewallIds = await firewallIdsOf(read, rows)
  return rows.map(row =>
    serverView(
      row,
      row.accountId === null ? null : (accounts.get(row.accountId) ?? null),
      controllers.get(row.id) ?? [],
      volumeIds.get(row.id) ?? [],
      known.get(row.id),
      firewallIds.get(row.id) ?? [],
    ),
  )
}

/**
 * Creates a server at a cloud, prepares a draft, or adds a server that exists elsewhere.
 * @throws Problem 403 `plan_limit_reached`, `spend_cap_reached`; 409 `price_unknown`, `price_above_maximum`; 422; 424
 */
export async function createServer(
  ctx: Ctx,
  input: ServerInput,
  { dry_run: isDryRun = false }: { dry_run?: boolean },
  waiting: Waiting | null,
): Promise<ServerView | ServerQuoteView> {
  requireShort(input.user_data)
  await requireMonitors(ctx, input.health_monitor_ids)
  if (input.account_id == null) {
    if (isDryRun) return { ...freeQuote, problems: [...orderedWithoutAccount(input), ...addressProblems(input.addresses)] }
    return await addServer(ctx, input)
  }
  const account = await accountForServer(ctx, input.account_id)
  refuseManual(input)
  const order = orderOf({ ...input, ssh_keys: input.ssh_keys ?? (await defaultKeys(ctx, account)) })
  const catalog = await callAdapter(() => catalogOf(ctx.hub, account, true))
  if (isDryRun) return await quote(ctx, account, catalog, input, order)
  requireCurrency(input)
  const impossible = agentProblems(input)
  if (impossible.length > 0) throw invalid(impossible)
  if (input.provision !== false) await requireOrder(ctx, account, catalog, input, order)
  else {
    await sshKeysOf(ctx.hub.read, ctx, order.ssh_keys)
    await requireFirewalls(ctx, account, order)
  }
  const created = await insertOrdered(ctx, account, catalog, input, order)
  if (waiting && created.action_id !== null) await waitForAction(ctx, created.action_id, waiting)
  return waiting ? await getServer(ctx, created.id) : created
}

/** The keys of a server whose request names none. */
const defaultKeys = async (ctx: Ctx, { kind }: CloudAccountRow): Promise<string[]> =>
  cloudKindOf(kind)!.capabilities.sshKeys === 'unsupported'
    ? []
    : (await defaultSshKeys(ctx.hub.read, ctx)).map(one => one.publicKey)

/** The account that a request names. @throws Problem 422 */
async function accountForServer(ctx: Ctx, id: string): Promise<CloudAccountRow> {
  try {
    return await accountOf(ctx, id)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    throw invalid([{ pointer: '#/account_id', code: 'not_found', detail: 'There is no cloud account with this ID.' }])
  }
}

async function insertOrdered(
  ctx: Ctx,
  account: CloudAccountRow,
  catalog: DatedCatalog,
  input: ServerInput,
  order: ServerOrderView,
): Promise<ServerView> {
  const script = input.enroll_agent ? await agentScriptAt(ctx.hub) : null
  return await change(ctx, 'cloud.server.create', async tx => {
    const locked = await lockAccount(tx, account.id)
    await refuseOverLimit(tx, ctx, 'server')
    const now = ctx.hub.clock.now()
    const id = newId('srv')
    const inserted = await insertRow(tx, ctx, serverRows, {
      ...newColumns(now),
      id,
      ...inputColumns(serverMembers, input),
      kind: 'vm',
      origin: 'made',
      accountId: account.id,
      status: 'draft',
      location: order.location,
      image: order.image,
      order,
      userDataSealed:
        input.user_data == null ? null : await sealUserData(tx, ctx, { id, workspaceId: ctx.workspaceId }, input.user_data),
    })
    const { row, ...enrolled } = script
      ? await addAgentScript(tx, ctx, inserted, input.user_data ?? null, script)
      : { row: inserted }
    await saveLabels(tx, serverLabels, ctx.workspaceId, [{ id: row.id, before: {}, after: labelsOf(row) }])
    const monitored = input.monitor === false ? {} : await monitorNewServer(tx, ctx, row)
    if (input.provision === false) return { ...(await changedRow(serverRows, null, row, one => viewOf(tx, one))), ...monitored }
    const started = await startOn(tx, ctx, row, locked, 'provision', acceptedOf(input), catalog, '#')
    const after = await viewOf(tx, await findRow(tx, ctx, serverRows, row.id))
    return { result: after, target: targetOf(serverRows, row), after, ...merged([started, monitored, enrolled]) }
  })
}

/** Lets the user data of a server install its agent, with a key of its own. @throws Problem 409, 422 */
async function addAgentScript(
  tx: Tx,
  ctx: Ctx,
  row: ServerRow,
  own: string | null,
  script: (key: string) => string,
): Promise<{ row: ServerRow } & Pick<Consequences, 'audits'>> {
  const named = {
    name: `Agent of ${row.name}`.slice(0, 100),
    server_id: row.id,
    expires_in_seconds: agentKeySeconds,
    monitor: false,
  }
  const { key, created } = await insertEnrolmentKey(tx, ctx, named)
  const userData = withScript(script(key), own)
  requireShort(userData)
  const set = { userDataSealed: await sealUserData(tx, ctx, row, userData) }
  await tx.update(servers).set(set).where(eq(servers.id, row.id))
  return { row: { ...row, ...set }, audits: auditDrafts(ctx, 'cloud.enrolment_key.create', created) }
}

/** A size that is out of stock is tried again for a while. */
const agentKeySeconds = 86_400

/** Why the agent can’t be installed by user data. */
function agentProblems({ enroll_agent, provision, user_data }: ServerInput): FieldProblem[] {
  if (!enroll_agent) return []
  const problem = (detail: string) => [{ pointer: '#/enroll_agent', code: 'unsupported', detail }]
  if (provision === false) return problem('is not for drafts. Install the agent once the server exists.')
  if (user_data != null && isMime(user_data)) return problem('can’t be used with user data that is a MIME message.')
  return []
}

const acceptedOf = ({ max_monthly_price, currency, accept_unknown_price }: AcceptedPrice) => ({
  ...(max_monthly_price !== undefined && { max_monthly_price }),
  ...(currency !== undefined && { currency }),
  ...(accept_unknown_price !== undefined && { accept_unknown_price }),
})

/** A server without a cloud account, which exists elsewhere. */
async function addServer(ctx: Ctx, input: ServerInput): Promise<ServerView> {
  const problems = [...orderedWithoutAccount(input), ...addressProblems(input.addresses)]
  if (problems.length > 0) throw invalid(problems)
  return await change(ctx, 'cloud.server.create', async tx => {
    // Nothing may ever tell whether it is up, so it has no monitor by default.
    const { row, monitored } = await insertAddedServer(tx, ctx, input)
    return { ...(await changedRow(serverRows, null, row, one => viewOf(tx, one))), ...monitored }
  })
}

/**
 * Inserts a server without a cloud account, within a change, and its monitor if `monitor` is true.
 * @throws Problem 403 `plan_limit_reached`
 */
export async function insertAddedServer(
  tx: Tx,
  ctx: Ctx,
  input: Pick<ServerInput, 'name' | 'labels' | 'kind' | 'location' | 'addresses' | 'monitor'>,
): Promise<{ row: ServerRow; monitored: Consequences }> {
  await refuseOverLimit(tx, ctx, 'server')
  const row = await insertRow(tx, ctx, serverRows, {
    ...newColumns(ctx.hub.clock.now()),
    ...inputColumns(serverMembers, input),
    kind: input.kind ?? 'external',
    origin: 'added',
    accountId: null,
    status: 'unknown',
    location: input.location ?? null,
    image: null,
    manualAddresses: manualAddresses(input.addresses ?? []),
    order: null,
    userDataSealed: null,
  })
  await saveLabels(tx, serverLabels, ctx.workspaceId, [{ id: row.id, before: {}, after: labelsOf(row) }])
  return { row, monitored: input.monitor ? await monitorNewServer(tx, ctx, row) : {} }
}

/** What several parts of a change have as a consequence. */
const merged = (parts: readonly Partial<ChangeResult<unknown>>[]) => ({
  audits: parts.flatMap(one => one.audits ?? []),
  jobs: parts.flatMap(one => one.jobs ?? []),
  events: parts.flatMap(one => one.events ?? []),
  notices: parts.flatMap(one => one.notices ?? []),
  wakeTopics: parts.flatMap(one => one.wakeTopics ?? []),
})

/** The columns that are the same for every new server. */
export const newColumns = (now: number) => ({
  providerRef: null,
  statusSince: now,
  health: 'unknown' as const,
  healthSince: now,
  healthReason: 'There is no information about the server yet.',
  healthSource: null,
  toldHealth: null,
  power: 'unknown' as const,
  cloud: null,
  removedLabels: [] as string[],
  manualAddresses: [] as ServerAddress[],
  priceMicros: null,
  priceCurrency: null,
  priceAt: null,
  actionId: null,
  quietUntil: null,
  writtenAt: now,
  deletedAt: null,
})

const orderFields = [
  ...Object.keys(orderMembers).filter(name => name !== 'location'),
  'user_data',
  'provision',
  'enroll_agent',
] as const

/** What only makes sense for a server that is created at a cloud. */
const orderedWithoutAccount = (input: Record<string, any>): FieldProblem[] =>
  orderFields
    .filter(name => input[name] != null && !((name === 'provision' || name === 'enroll_agent') && input[name] === false))
    .map(name => ({ pointer: `#/${name}`, code: 'unsupported', detail: 'requires an `account_id`.' }))

/** @throws Problem 422 for what is known from the cloud */
function refuseManual(input: Pick<ServerInput, 'kind' | 'addresses'>): void {
  for (const name of ['kind', 'addresses'] as const)
    if (input[name] !== undefined)
      throw invalid([{ pointer: `#/${name}`, code: 'unsupported', detail: 'is only for servers without a cloud account.' }])
}

const addressProblems = (texts: readonly string[] = []): FieldProblem[] =>
  texts.flatMap((text, at) =>
    parseAddress(text)
      ? []
      : [{ pointer: `#/addresses/${at}`, code: 'format', detail: 'must be an IPv4 or IPv6 address, without a prefix length.' }],
  )

const localClasses: ReadonlySet<string> = new Set(['private', 'loopback', 'link_local'])

/** Public addresses first. */
const manualAddresses = (texts: readonly string[]): ServerAddress[] =>
  texts
    .map(text => {
      const address = parseAddress(text)!
      return {
        address: formatAddress(address),
        family: address.kind() === 'ipv4' ? (4 as const) : (6 as const),
        scope: localClasses.has(classOf(address)) ? ('private' as const) : ('public' as const),
        ptr: null,
      }
    })
    .sort((a, b) => Number(a.scope === 'private') - Number(b.scope === 'private'))

/** @throws Problem 422 for what is missing or impossible in an order */
async function requireOrder(
  ctx: Ctx,
  account: CloudAccountRow,
  catalog: DatedCatalog,
  input: ServerInput,
  order: ServerOrderView,
) {
  const sshKeys = await sshKeysOf(ctx.hub.read, ctx, order.ssh_keys)
  const problems = orderProblems(cloudKindOf(account.kind)!, catalog, input.name, order, {
    hasUserData: input.user_data != null || input.enroll_agent === true,
    sshKeyCount: sshKeys.length,
  })
  problems.push(...(await orderedVolumes(ctx.hub.read, ctx, account, order)).problems)
  problems.push(...(await orderedFirewallProblems(ctx, cloudKindOf(account.kind)!, order)))
  if (problems.length > 0) throw invalid(problems)
}

/** @throws Problem 422 */
async function requireFirewalls(ctx: Ctx, { kind }: CloudAccountRow, order: OrderedFirewalls): Promise<void> {
  const problems = await orderedFirewallProblems(ctx, cloudKindOf(kind)!, order)
  if (problems.length > 0) throw invalid(problems)
}

const freeQuote: ServerQuoteView = {
  price: { monthly: null, currency: null, gross: true, known: false, as_of: null },
  committed: null,
  cap: null,
  steps: [],
  problems: [],
}

/** What creating a server would cost, and why it may be impossible. */
async function quote(
  ctx: Ctx,
  account: CloudAccountRow,
  catalog: DatedCatalog,
  input: ServerInput,
  order: ServerOrderView,
): Promise<ServerQuoteView> {
  const kind = cloudKindOf(account.kind)!
  const found: ServerQuoteView['problems'] = []
  const attempt = async <T>(step: () => Promise<T>): Promise<T | null> => {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      found.push(...(error.extras.errors ?? [{ pointer: null, code: error.code, detail: error.detail }]))
      return null
    }
  }
  const sshKeys = await attempt(() => sshKeysOf(ctx.hub.read, ctx, order.ssh_keys))
  const hasUserData = input.user_data != null || input.enroll_agent === true
  const checked = { hasUserData, sshKeyCount: sshKeys?.length ?? order.ssh_keys.length }
  found.push(...orderProblems(kind, catalog, input.name, order, checked), ...agentProblems(input))
  found.push(...(await orderedVolumes(ctx.hub.read, ctx, account, order)).problems)
  found.push(...(await orderedFirewallProblems(ctx, kind, order)))
  const price = highestPrice(kind, catalog, order)
  found.push(...acceptedProblems(input))
  const accepted = { ...(price && { currency: price.currency }), ...acceptedOf(input) }
  if (order.size !== null) await attempt(() => requireSpend(ctx.hub.read, account, price, accepted))
  await attempt(() => requireRoom(ctx))
  const { hasPrices } = kind.capabilities
  return {
    price: {
      monthly: nullableAmount(price?.monthlyMicros ?? null),
      currency: price?.currency ?? null,
      gross: true,
      known: price !== null,
      as_of: price ? instant(catalog.readAt) : null,
    },
    committed: hasPrices ? nullableAmount(await committedMicros(ctx.hub.read, account)) : null,
    cap: account.spend.monthly_cap,
    steps: provisionSteps.filter(one => one !== 'firewalls' || order.firewall_ids.length > 0),
    problems: found,
  }
}

/** @throws Problem 403 `plan_limit_reached` */
async function requireRoom({ hub, workspaceId, limits }: Ctx): Promise<void> {
  const max = limits.servers
  if (max == null || (await countOf(hub.read, 'server', workspaceId)) < max) return
  throw new Problem('plan_limit_reached', `The plan allows ${pluralize(max, 'servers')}, and they are all in use.`)
}

/**
 * Updates a server. What was ordered can be updated as long as it is a draft.
 * @throws Problem 403 `restricted_token`, 404, 409, 412, 422
 */
export async function updateServer(ctx: Ctx, id: string, patch: ServerPatch): Promise<ServerView> {
  requireShort(patch.user_data)
  // Also refuses private keys.
  if (patch.ssh_keys) await sshKeysOf(ctx.hub.read, ctx, patch.ssh_keys)
  await requireMonitors(ctx, patch.health_monitor_ids)
  const problems = addressProblems(patch.addresses)
  if (problems.length > 0) throw invalid(problems)
  if (patch.firewall_ids?.length) {
    const { accountId, order } = await findRow(ctx.hub.read, ctx, serverRows, id)
    const ordered = { firewall_ids: patch.firewall_ids, start: patch.start ?? order?.start ?? true }
    if (accountId !== null) await requireFirewalls(ctx, await accountOf(ctx, accountId), ordered)
  }
  return await change(ctx, 'cloud.server.update', async tx => {
    const before = await lockRow(tx, ctx, serverRows, id)
    const columns = {
      ...patchColumns(serverMembers, patch),
      ...(await placeColumns(tx, ctx, before, patch)),
      ...(patch.labels && { removedLabels: removedLabels(before, patch.labels) }),
    }
    const after = await saveRow(tx, ctx, serverRows, before, columns)
    if (after === before) return await changedRow(serverRows, before, after, one => viewOf(tx, one))
    await saveLabels(tx, serverLabels, ctx.workspaceId, [{ id, before: labelsOf(before), after: labelsOf(after) }])
    const labeling = patch.labels ? await sendLabels(tx, ctx, after) : {}
    const { allow, note } = patch
    const overrides = { ...(allow && { allow }), ...(note !== undefined && { note }) }
    const selected = isDeepStrictEqual(labelsOf(before), labelsOf(after))
      ? { jobs: [], audits: [] }
      : await followLabels(tx, ctx.workspaceId, [after], async affected => {
          refuseOtherFirewalls(ctx, affected)
          requireAllowed(await blockedByAttachments(tx, ctx, affected), overrides)
        })
    const followed = {
      ...{ audits: selected.audits, events: labeling.events ?? [], reason: note ?? null },
      jobs: [...(labeling.jobs ?? []), ...selected.jobs],
    }
    if (isDeepStrictEqual(before.healthMonitorIds, after.healthMonitorIds)) {
      const now = await findRow(tx, ctx, serverRows, id)
      return { ...(await changedRow(serverRows, before, now, one => viewOf(tx, one))), ...followed }
    }
    const by = { source: 'monitor' as const, reason: 'The bound monitors were changed.' }
    const account = (await accountStates(tx, [after])).get(after.accountId ?? '') ?? null
    const now = await findRow(tx, ctx, serverRows, id)
    const concluded = await writeState(tx, ctx.hub, now, {}, await proofsOf(tx, after, account), by)
    const changed = await changedRow(serverRows, before, concluded.row, one => viewOf(tx, one))
    return { ...changed, ...followed, events: [...followed.events, ...concluded.events] }
  })
}

/** Refuses labels that attach or detach firewalls that the token has no access to. @throws Problem 403 `restricted_token` */
function refuseOtherFirewalls(ctx: Ctx, affected: readonly AttachmentChange[]): void {
  if (affected.every(one => canAccess(ctx, one.firewallId))) return
  throw new Problem(
    'restricted_token',
    'These labels would attach or detach a firewall that the token has no access to. Use a token that includes the firewall.',
  )
}

/** Keys of labels that a server that was created here no longer has, but its cloud may. */
const removedLabels = (before: ServerRow, labels: Record<string, string>): string[] =>
  before.origin === 'made' && before.cloud !== null
    ? [...new Set([...before.removedLabels, ...Object.keys(labelsOf(before))])].filter(key => !Object.hasOwn(labels, key))
    : []

/** Stores the labels at the cloud of a server that was created here. While an action works on it, the next sync does that. */
async function sendLabels(tx: Tx, ctx: Ctx, row: ServerRow): Promise<Pick<ChangeResult<unknown>, 'jobs' | 'events'>> {
  if (row.accountId === null) return {}
  const [account] = await tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, row.accountId))
  if (!account || !needsLabels(row, account)) return {}
  const { jobs, events } = await startSetLabels(tx, ctx, row, account)
  return { jobs, events }
}

/** The columns of what depends on where the server is. @throws Problem 409, 422 */
async function placeColumns(tx: Tx, ctx: Ctx, row: ServerRow, patch: ServerPatch): Promise<Partial<ServerRow>> {
  if (row.accountId === null) {
    const [ordered] = orderedWithoutAccount(patch)
    if (ordered) throw invalid([ordered])
    return {
      ...(patch.kind !== undefined && { kind: patch.kind }),
      ...(patch.location !== undefined && { location: patch.location }),
      ...(patch.addresses !== undefined && { manualAddresses: manualAddresses(patch.addresses) }),
    }
  }
  refuseManual(patch)
  const ordered = Object.keys(orderMembers).filter(name => patch[name as keyof ServerPatch] !== undefined)
  if (row.status !== 'draft') {
    const isEdited = ordered.length > 0 || patch.user_data !== undefined || (patch.name ?? row.name) !== row.name
    if (row.status === 'error' && row.order !== null && isEdited)
      throw conflict(
        'The outcome of the purchase is unknown: the server may exist at the cloud, as it was ordered. It appears with the next sync if it does. If it doesn’t, retry the action `provision` where the cloud supports that, or delete the server.',
      )
    if (ordered.length > 0 || patch.user_data !== undefined)
      throw conflict(
        `\`${ordered[0] ?? 'user_data'}\` can only be updated as long as the server is a draft. Use an action instead.`,
      )
    if (patch.name !== undefined && patch.name !== row.name)
      throw conflict('The name is the one at the cloud. Change it with the action `rename`.')
    return {}
  }
  const order = orderOf({ ...row.order, ...Object.fromEntries(ordered.map(name => [name, patch[name as keyof ServerPatch]])) })
  return {
    ...(ordered.length > 0 && { order, location: order.location, image: order.image }),
    ...(patch.user_data !== undefined && { userDataSealed: await sealUserData(tx, ctx, row, patch.user_data) }),
  }
}

/**
 * Deletes a server: here, or at its cloud too.
 * @returns the action that deletes it at the cloud; undefined if it was only deleted here
 * @throws Problem 404; 409 `protected`, `resource_locked`; 412; 422
 */
export async function deleteServer(
  ctx: Ctx,
  id: string,
  { at_provider: at, snapshots: lost }: ServerDeletion,
): Promise<ActionView | undefined> {
  const found = await findRow(ctx.hub.read, ctx, serverRows, id)
  return await change(ctx, 'cloud.server.delete', async (tx): Promise<ChangeResult<ActionView | undefined>> => {
    // Accounts are locked before their servers.
    const account = found.accountId === null ? null : await lockAccount(tx, found.accountId)
    const row = await lockRow(tx, ctx, serverRows, id)
    if (row.actionId !== null)
      throw new Problem('resource_locked', `The action ${row.actionId} is working on the server. Wait until it has finished.`, {
        fields: { holder: row.actionId },
      })
    const isThere = account !== null && !gone.has(row.status)
    if (isThere && at === undefined)
      throw invalid([
        {
          pointer: '#/query/at_provider',
          code: 'required',
          detail: 'is required, because the server exists at a cloud: `destroy` deletes it there, `keep` only removes it here.',
        },
      ])
    // Kept, so that a reading that started before its deletion doesn’t add it again.
    if (row.deletedAt !== null) return { result: undefined, target: targetOf(serverRows, row), unchanged: true }
    if (isThere && at === 'destroy') return await startOn(tx, ctx, row, account, 'delete', lost ? { snapshots: lost } : {}, null)
    const before = await viewOf(tx, row)
    if (isThere && row.providerRef !== null) await ignoreServer(tx, row, account)
    const removed = await removeMonitorsOf(tx, ctx.hub, row.workspaceId, [row.id])
    await forgetCertificates(tx, row.workspaceId, [id], ctx.hub.clock.now())
    await tx.delete(servers).where(eq(servers.id, id))
    return { result: undefined, target: targetOf(serverRows, row), before, ...removed }
  })
}

/** Statuses of servers that don’t exist at a cloud. */
const gone: ReadonlySet<string> = new Set(['draft', 'missing', 'deleted'])

/** Remembers that a server was removed here, so that the next reading doesn’t add it again. It still costs something. */
async function ignoreServer(tx: Tx, { providerRef, priceMicros }: ServerRow, account: CloudAccountRow): Promise<void> {
  await tx
    .update(cloudAccounts)
    .set({
      ignoredRefs: [...account.ignoredRefs, providerRef!],
      unclaimed: account.unclaimed + 1,
      unclaimedMicros: account.unclaimedMicros + (priceMicros ?? 0),
    })
    .where(eq(cloudAccounts.id, account.id))
}

/** @throws Problem 422 for monitors that the caller can’t see */
async function requireMonitors(ctx: Ctx, ids: readonly string[] | null | undefined): Promise<void> {
  if (!ids || ids.length === 0) return
  const known = ctx.permissions.has('monitoring.read')
    ? new Set((await monitorStatusesOf(ctx.hub.read, ctx.workspaceId, ids)).map(one => one.id))
    : new Set<string>()
  const following = await monitorsOfServers(ctx.hub.read, [...known])
  const problems = ids.flatMap((id, at) =>
    following.has(id)
      ? [
          {
            pointer: `#/health_monitor_ids/${at}`,
            code: 'circular',
            detail: 'must not follow the health of a server itself, or be a group with such a monitor.',
          },
        ]
      : known.has(id) && canAccess(ctx, id)
        ? []
        : [{ pointer: `#/health_monitor_ids/${at}`, code: 'not_found', detail: 'There is no monitor with this ID.' }],
  )
  if (problems.length > 0) throw invalid(problems)
}
