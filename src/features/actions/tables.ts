import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import type { AuditActor } from '../../core/db/tables'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import type { Area } from '../../core/permissions'

export const actionStates = ['pending', 'running', 'success', 'error', 'canceled'] as const
type ActionState = (typeof actionStates)[number]
/** Statuses of actions that have not finished. */
export const openStates = ['pending', 'running'] as const satisfies readonly ActionState[]

export const stepStates = ['pending', 'running', 'success', 'error', 'canceled', 'skipped'] as const

/** A step of the work; times in ms UTC. */
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

/** Why an action failed: a problem without the fields that belong to a request. */
export interface ActionError {
  type: string
  title: string
  status: number
  detail: string
  code: string
  /** Why an external system failed, for `provider_failed`. */
  failure?: string
}

export const actions = table(
  'actions',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Also the kind of the job.
    type: text('type').notNull(),
    area: text('area').$type<Area>().notNull(),
    // The main resource. Restricted tokens see the action if they have access to it.
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    resources: json<ResourceRef[]>('resources').notNull(),
    status: text('status', { enum: [...actionStates] as [ActionState, ...ActionState[]] }).notNull(),
    cancelable: flag('cancelable').notNull(),
    cancelRequestedAt: time('cancel_requested_at'),
    progress: int('progress').notNull(),
    steps: json<Step[]>('steps').notNull(),
    input: json<Record<string, unknown>>('input').notNull(),
    // Where the next chunk continues; null before the first chunk has finished.
    state: json<Record<string, unknown> | null>('state'),
    // Set while a chunk runs. If it is set when the next one starts, the process died during the chunk.
    chunkInProgress: flag('chunk_in_progress').notNull(),
    result: json<Record<string, unknown> | null>('result'),
    error: json<ActionError | null>('error'),
    actor: json<AuditActor>('actor').notNull(),
    createdAt: time('created_at').notNull(),
    startedAt: time('started_at'),
    finishedAt: time('finished_at'),
  },
  t => [
    index('actions_workspace').on(t.workspaceId, t.id),
    index('actions_created').on(t.workspaceId, t.createdAt, t.id),
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
    // Workspace and resource until the action has finished, then null. Unique, so a resource has one open action at most.
    locked: text('locked'),
  },
  t => [
    primaryKey({ columns: [t.actionId, t.resourceId] }),
    index('action_resources_resource').on(t.resourceId, t.actionId),
    uniqueIndex('action_resources_locked').on(t.locked),
  ],
)
