import { editableColumns, flag, int, json, text, time } from '../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../core/db/dialect'
import type { Permission } from '../core/permissions'
import type { PlanLimits } from './limit-table'

export const plans = table('plans', {
  id: text('id').primaryKey(),
  title: text('title').notNull(),
  apiAccess: text('api_access', { enum: ['none', 'read', 'full'] }).notNull(),
  limits: json<PlanLimits>('limits').notNull(),
  isDefault: flag('is_default').notNull(),
  ...editableColumns(),
})

export const workspaces = table(
  'workspaces',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    planId: text('plan_id')
      .notNull()
      .references(() => plans.id),
    // The operator's workspace, created at first start. It may reach private addresses.
    isOperator: flag('is_operator').notNull(),
    networkPolicy: json<{ allow_private: boolean; allow_ranges: string[] }>('network_policy').notNull(),
    limitOverrides: json<Partial<PlanLimits>>('limit_overrides').notNull(),
    // Set while the operator has suspended the workspace.
    suspendedAt: time('suspended_at'),
    suspensionReason: text('suspension_reason'),
    ...editableColumns(),
  },
  t => [uniqueIndex('workspaces_name').on(t.name)],
)

/** The columns of every resource of a workspace. */
export const resourceColumns = () => ({
  id: text('id').primaryKey(),
  workspaceId: text('workspace_id')
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  ...editableColumns(),
})

/** Dashboard preferences of a user. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark'
  timezone: string | null
  hour_cycle: 'auto' | '12' | '24'
  density: 'comfortable' | 'compact'
  sidebar_collapsed: boolean
  shortcuts: boolean
  dismissed: string[]
}

export const users = table(
  'users',
  {
    id: text('id').primaryKey(),
    // Stored in lowercase: addresses that differ only in case belong to the same user.
    email: text('email').notNull(),
    name: text('name').notNull(),
    passwordHash: text('password_hash').notNull(),
    isOperator: flag('is_operator').notNull(),
    disabledAt: time('disabled_at'),
    // Preferences that the user changed; null if none.
    preferences: json<Partial<Preferences>>('preferences'),
    ...editableColumns(),
  },
  t => [uniqueIndex('users_email').on(t.email)],
)

export const roles = ['owner', 'admin', 'member', 'viewer'] as const
export type Role = (typeof roles)[number]

export const memberships = table(
  'memberships',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text('role', { enum: [...roles] as [Role, ...Role[]] }).notNull(),
    // When the user last used this workspace; null for never.
    seenAt: time('seen_at'),
    ...editableColumns(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.userId] }), index('memberships_user').on(t.userId)],
)

export const sessions = table(
  'sessions',
  {
    id: text('id').primaryKey(),
    tokenHash: text('token_hash').notNull(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    // The workspace that the user last used; the default for requests that name none.
    workspaceId: text('workspace_id').notNull(),
    ip: text('ip').notNull(),
    userAgent: text('user_agent').notNull(),
    createdAt: time('created_at').notNull(),
    seenAt: time('seen_at').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  t => [
    uniqueIndex('sessions_token_hash').on(t.tokenHash),
    index('sessions_user').on(t.userId),
    index('sessions_expires').on(t.expiresAt),
  ],
)

export const tokenModes = ['scoped', 'read_only', 'full'] as const
export type TokenMode = (typeof tokenModes)[number]

export const tokens = table(
  'tokens',
  {
    ...resourceColumns(),
    name: text('name').notNull(),
    tokenHash: text('token_hash').notNull(),
    hint: text('hint').notNull(),
    mode: text('mode', { enum: [...tokenModes] as [TokenMode, ...TokenMode[]] }).notNull(),
    permissions: json<Permission[]>('permissions').notNull(),
    allowedCidrs: json<string[]>('allowed_cidrs').notNull(),
    resourceIds: json<string[]>('resource_ids').notNull(),
    createdBy: text('created_by').notNull(),
    // The token that it replaced, and the token that replaced it.
    rotatedFrom: text('rotated_from'),
    rotatedTo: text('rotated_to'),
    // How long the replaced token keeps working after the first use of this one; null once this one was used.
    graceSeconds: int('grace_seconds'),
    expiresAt: time('expires_at'),
    lastUsedAt: time('last_used_at'),
    lastUsedIp: text('last_used_ip'),
    revokedAt: time('revoked_at'),
    // The expiry that the workspace was last notified of, and how many days in advance.
    warnedEnd: time('warned_end'),
    warnedDays: int('warned_days'),
  },
  t => [
    uniqueIndex('tokens_hash').on(t.tokenHash),
    index('tokens_workspace').on(t.workspaceId, t.id),
    index('tokens_expires').on(t.expiresAt),
  ],
)
