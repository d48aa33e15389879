import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import type { AuditActor } from '../../core/db/tables'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import type { Area } from '../../core/permissions'

export const actionStates = ['pending', 'running', 'success', 'error', 'cancelled'] as const
export type ActionState = (typeof actionStates)[number]
/** States in which the work is not over. */
export const openStates = ['pending', 'running'] as const satisfies readonly ActionState[]

export const stepStates = ['pending', 'running', 'success', 'error', 'cancelled', 'skipped'] as const

/** A part of the work; times in ms UTC. */
export interface Step {
  name: string
  status: (typeof stepStates)[number]
  started_at: number | null
  finished_at: number | null
  detail: string | null
}

export interface ResourceRef {
  type: string
  id: string
}

/** What went wrong, as a problem without the members that belong to a request. */
export interface ActionError {
  type: string
  title: string
  status: number
  detail: string
  code: string
}

export const actions = table(
  'actions',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Also the kind of its job.
    type: text('type').notNull(),
    area: text('area').$type<Area>().notNull(),
    // The first of its resources, by which narrowed tokens see it or not.
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    resources: json<ResourceRef[]>('resources').notNull(),
    status: text('status', { enum: [...actionStates] as [ActionState, ...ActionState[]] }).notNull(),
    cancellable: flag('cancellable').notNull(),
    cancelRequestedAt: time('cancel_requested_at'),
    progress: int('progress').notNull(),
    steps: json<Step[]>('steps').notNull(),
    input: json<Record<string, unknown>>('input').notNull(),
    // Where the work left off; null before the first piece of it is done.
    state: json<Record<string, unknown> | null>('state'),
    // A piece was begun and its end not written: after a restart this tells that it was cut off.
    underWay: flag('under_way').notNull(),
    result: json<Record<string, unknown> | null>('result'),
    error: json<ActionError | null>('error'),
    actor: json<AuditActor>('actor').notNull(),
    createdAt: time('created_at').notNull(),
    startedAt: time('started_at'),
    finishedAt: time('finished_at'),
  },
  t => [
    index('actions_workspace').on(t.workspaceId, t.id),
    index('actions_status').on(t.status, t.createdAt),
    index('actions_finished').on(t.finishedAt),
  ],
)

export const actionResources = table(
  'action_resources',
  {
    actionId: text('action_id')
      .notNull()
      .references(() => actions.id, { onDelete: 'cascade' }),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    // Workspace and resource while the action is not over, null after: of one value there is one row, so of one resource one action.
    locked: text('locked'),
  },
  t => [
    primaryKey({ columns: [t.actionId, t.resourceId] }),
    index('action_resources_resource').on(t.resourceId, t.actionId),
    uniqueIndex('action_resources_locked').on(t.locked),
  ],
)
