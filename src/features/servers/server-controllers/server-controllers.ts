import { and, asc, eq } from 'drizzle-orm'
import { accountView, createAccount, deleteAccount, updateAccount } from '../../../adapters/accounts/accounts'
import {
  checkAccount,
  checkJob,
  checkJobFor,
  checkView,
  openAccount,
  unchecked,
  type CheckedAccounts,
} from '../../../adapters/accounts/check'
import { kindView } from '../../../adapters/kinds'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { editableView } from '../../../core/members'
import { invalid, notFound } from '../../../core/problem'
import { canAccess } from '../../../core/resource-access'
import { findRow } from '../../../core/rows'
import type { Settings } from '../../../core/sealed-settings'
import { onePage, type Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { agentsById, isLinked } from '../agents/rows'
import { controllerKindOf, controllerKinds } from '../controllers'
import type { Controller, ControllerKind } from '../controllers/controller'
import { serverRows, type ServerRow } from '../view'
import { powerJobFor } from './power-jobs'
import type { ControllerKindView, ServerControllerInput, ServerControllerView } from './shapes'
import { serverControllers } from './tables'

export type ControllerRow = typeof serverControllers.$inferSelect

const controllers: CheckedAccounts<ControllerRow, ServerControllerView, ControllerKind> = {
  rows: rowsOf('server_controller', serverControllers, { accessTo: row => row.serverId }),
  name: 'server_controller',
  kindOf: controllerKindOf,
  actions: {
    create: 'cloud.controller.create',
    update: 'cloud.controller.update',
    delete: 'cloud.controller.delete',
    check: 'cloud.controller.check',
    validate: 'cloud.controller.check',
    fail: 'cloud.controller.fail',
    recover: 'cloud.controller.recover',
  },
  checkKind: 'cloud.check-controller',
  failingNotice: 'server_controller.failing',
  reset: () => ({ ...unchecked, power: 'unknown', powerAt: null }),
  view: controllerView,
  check: (kind, settings, context) => kind.open(settings, context).check(),
  onOk: async (_, id) => [powerJobFor(id, 0)],
}

/** Lists all kinds of controllers on one page. */
export const listControllerKinds = (): Page<ControllerKindView> =>
  onePage(
    controllerKinds.map(kind => ({
      ...kindView(kind),
      capabilities: { actions: [...kind.verbs], reads_power: kind.readsPower },
    })),
  )

/** Lists the controllers of a server on one page. @throws Problem 404 */
export async function listServerControllers(ctx: Ctx, serverId: string): Promise<Page<ServerControllerView>> {
  await findRow(ctx.hub.read, ctx, serverRows, serverId)
  const rows = await ctx.hub.read
    .select()
    .from(serverControllers)
    .where(eq(serverControllers.serverId, serverId))
    .orderBy(asc(serverControllers.kind))
  return onePage(rows.map(controllerView))
}

/**
 * Creates the controller of a kind, or replaces its settings. Secrets that are omitted are kept, unless they would be sent to another
 * server. It is checked in the background.
 * @throws Problem 404, 412, 422
 */
export async function putController(
  ctx: Ctx,
  serverId: string,
  kindName: string,
  { settings }: ServerControllerInput,
): Promise<ServerControllerView> {
  const server = await findRow(ctx.hub.read, ctx, serverRows, serverId)
  const kind = controllerKindOf(kindName)
  if (!kind) throw notFound('controller kind')
  await requireAgent(ctx, settings)
  const row = await findController(ctx, serverId, kindName)
  const name = nameOf(kind, server)
  if (!row)
    return await createAccount<ControllerRow, ServerControllerView>(
      ctx,
      controllers,
      { kind: kindName, name, settings },
      { serverId },
      { jobs: created => [checkJobFor(controllers, created.id, created.createdAt)] },
    )
  const patch = { ...replacing(kind, row.settings), ...settings }
  return await updateAccount<ControllerRow, ServerControllerView>(
    ctx,
    controllers,
    row.id,
    { name, settings: patch },
    () => ({}),
    {
      done: async (_, { settingsChanged }, { id, updatedAt }) =>
        settingsChanged ? [checkJobFor(controllers, id, updatedAt)] : [],
    },
  )
}

/** @throws Problem 422 if the agent that sends packets doesn’t exist, or the caller has no access to its server */
async function requireAgent(ctx: Ctx, { via_agent_id: id }: Settings): Promise<void> {
  if (typeof id !== 'string') return
  const [agent] = await agentsById(ctx.hub.read, ctx.workspaceId, [id])
  if (!isLinked(agent) || !canAccess(ctx, agent.serverId))
    throw invalid([{ pointer: '#/settings/via_agent_id', code: 'not_found', detail: 'There is no agent with this ID.' }])
}

/** Deletes a controller with its secrets. @throws Problem 404, 412 */
export async function deleteController(ctx: Ctx, serverId: string, kind: string): Promise<void> {
  const { id } = await controllerOf(ctx, serverId, kind)
  await deleteAccount(ctx, controllers, id, async () => {})
}

/** Checks a controller now. A failing check is a result, not an error of the request. @throws Problem 404, 409, 429 */
export async function checkController(ctx: Ctx, serverId: string, kind: string): Promise<ServerControllerView> {
  const { id } = await controllerOf(ctx, serverId, kind)
  return await checkAccount(ctx, controllers, id)
}

/** Opens a controller. @throws CloudError `refused` for an unknown kind, DecryptionFailed */
export const openController = (hub: Hub, row: ControllerRow): Promise<Controller> =>
  openAccount(hub, controllers, row, (kind, settings, context) => kind.open(settings, context))

export const checkControllerJob = checkJob(controllers)

/** The job that checks a controller now. */
export const checkControllerNow = (id: string, now: number) => checkJobFor(controllers, id, now)

async function findController(ctx: Ctx, serverId: string, kind: string): Promise<ControllerRow | undefined> {
  const [row] = await ctx.hub.read
    .select()
    .from(serverControllers)
    .where(and(eq(serverControllers.serverId, serverId), eq(serverControllers.kind, kind)))
  return row
}

async function controllerOf(ctx: Ctx, serverId: string, kind: string): Promise<ControllerRow> {
  await findRow(ctx.hub.read, ctx, serverRows, serverId)
  const row = await findController(ctx, serverId, kind)
  if (!row) throw notFound('controller')
  return row
}

/** A patch that removes the settings of before, except secrets, which are not among them. */
const replacing = (kind: ControllerKind, before: Settings): Settings =>
  Object.fromEntries(
    Object.keys(before)
      .filter(name => !kind.settings.required?.includes(name))
      .map(name => [name, null]),
  )

/** For the audit log and notices. */
const nameOf = ({ title }: ControllerKind, { name }: ServerRow): string => `${title} of ${name}`.slice(0, maxNameLength)

const maxNameLength = 100

function controllerView(row: ControllerRow): ServerControllerView {
  const { name: _, ...account } = accountView(row)
  return {
    ...account,
    server_id: row.serverId,
    ...checkView(row),
    power: row.power,
    power_at: instant(row.powerAt),
    ...editableView(row),
  }
}
