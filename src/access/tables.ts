import { flag, int, json, text, time } from '../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../core/db/dialect'
import type { Permission } from '../core/permissions'

/** Limits of a plan; null is without limit. */
export type PlanLimits = {
  requests_per_minute_per_token: number | null
  requests_per_hour_per_workspace: number | null
  webhook_endpoints: number | null
  deliveries_per_minute: number | null
  tokens: number | null
  heartbeats: number | null
  dns_zones: number | null
  dns_records: number | null
  concurrent_requests_per_token: number | null
  delivery_log_days: number | null
  event_feed_days: number | null
  audit_days: number | null
  dns_history_days: number | null
  monitors: number | null
  /** The shortest interval that a check may have, in seconds. */
  monitor_interval_seconds: number | null
  monitor_results_days: number | null
  incident_days: number | null
}

export const plans = table('plans', {
  id: text('id').primaryKey(),
  title: text('title').notNull(),
  apiAccess: text('api_access', { enum: ['none', 'read', 'full'] }).notNull(),
  limits: json<PlanLimits>('limits').notNull(),
  isDefault: flag('is_default').notNull(),
  version: int('version').notNull(),
  createdAt: time('created_at').notNull(),
  updatedAt: time('updated_at').notNull(),
})

export const workspaces = table(
  'workspaces',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    planId: text('plan_id')
      .notNull()
      .references(() => plans.id),
    // The operator's own, made at first start: it may reach private addresses.
    isOperator: flag('is_operator').notNull(),
    networkPolicy: json<{ allow_private: boolean; allow_ranges: string[] }>('network_policy').notNull(),
    limitOverrides: json<Partial<PlanLimits>>('limit_overrides').notNull(),
    // Set while the operator keeps everybody out.
    suspendedAt: time('suspended_at'),
    suspensionReason: text('suspension_reason'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [uniqueIndex('workspaces_name').on(t.name)],
)

/** How a person wants the dashboard. */
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
    // Stored in lower case: addresses that differ in case alone are one login.
    email: text('email').notNull(),
    name: text('name').notNull(),
    passwordHash: text('password_hash').notNull(),
    isOperator: flag('is_operator').notNull(),
    disabledAt: time('disabled_at'),
    // What they chose of the dashboard; null for nothing.
    preferences: json<Partial<Preferences>>('preferences'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
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
    // When the user was last in this workspace; null for never.
    seenAt: time('seen_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.userId] }), index('memberships_user').on(t.userId)],
)

export const invitations = table(
  'invitations',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // In lower case, as logins are.
    email: text('email').notNull(),
    role: text('role', { enum: [...roles] as [Role, ...Role[]] }).notNull(),
    codeHash: text('code_hash').notNull(),
    // Who knows the code: the user or token that made or renewed it.
    invitedBy: text('invited_by').notNull(),
    // Whether that was the operator, whose invitations make logins also where sign-up is closed.
    byOperator: flag('by_operator').notNull(),
    expiresAt: time('expires_at').notNull(),
    acceptedAt: time('accepted_at'),
    acceptedBy: text('accepted_by'),
    // The address that its code is mailed to, and what came of it; null where it is not mailed.
    sentTo: text('sent_to'),
    mailedAt: time('mailed_at'),
    mailError: text('mail_error'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [uniqueIndex('invitations_code_hash').on(t.codeHash), index('invitations_workspace').on(t.workspaceId, t.id)],
)

export const sessions = table(
  'sessions',
  {
    id: text('id').primaryKey(),
    tokenHash: text('token_hash').notNull(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    // Where the user was last: the workspace of a request that names none.
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

/** The secrets of programs for one-time codes, one a person. */
export const oneTimeCodes = table('one_time_codes', {
  userId: text('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  // The operator's own, under whose key the secret is sealed: a person belongs to no one workspace.
  workspaceId: text('workspace_id')
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  secretSealed: text('secret_sealed').notNull(),
  // Null until the first code of it was sent.
  confirmedAt: time('confirmed_at'),
  // Of RFC 6238: the last that was used, which is used no more, nor is any before it.
  lastStep: int('last_step'),
  createdAt: time('created_at').notNull(),
})

/** Recovery codes, by a keyed tag of each. */
export const recoveryCodes = table(
  'recovery_codes',
  {
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    tag: text('tag').notNull(),
    usedAt: time('used_at'),
  },
  t => [primaryKey({ columns: [t.userId, t.tag] })],
)

export const passkeys = table(
  'passkeys',
  {
    id: text('id').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    // As WebAuthn writes them: base64url.
    credentialId: text('credential_id').notNull(),
    publicKey: text('public_key').notNull(),
    // How often the authenticator says that it signed; always 0 of those that do not count.
    counter: int('counter').notNull(),
    transports: json<string[]>('transports').notNull(),
    backedUp: flag('backed_up').notNull(),
    name: text('name').notNull(),
    lastUsedAt: time('last_used_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [uniqueIndex('passkeys_credential').on(t.credentialId), index('passkeys_user').on(t.userId, t.id)],
)

/** Links to a new password, by the hash of the code in each. */
export const passwordResets = table(
  'password_resets',
  {
    codeHash: text('code_hash').primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  t => [index('password_resets_user').on(t.userId), index('password_resets_expires').on(t.expiresAt)],
)

/** Challenges of WebAuthn that were used, until their time is over. */
export const spentChallenges = table(
  'spent_challenges',
  { hash: text('hash').primaryKey(), expiresAt: time('expires_at').notNull() },
  t => [index('spent_challenges_expires').on(t.expiresAt)],
)

export const tokenModes = ['scoped', 'read_only', 'full'] as const
export type TokenMode = (typeof tokenModes)[number]

export const tokens = table(
  'tokens',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    tokenHash: text('token_hash').notNull(),
    hint: text('hint').notNull(),
    mode: text('mode', { enum: [...tokenModes] as [TokenMode, ...TokenMode[]] }).notNull(),
    permissions: json<Permission[]>('permissions').notNull(),
    allowedCidrs: json<string[]>('allowed_cidrs').notNull(),
    resourceIds: json<string[]>('resource_ids').notNull(),
    createdBy: text('created_by').notNull(),
    // The token whose place it took, and the one that took its own.
    rotatedFrom: text('rotated_from'),
    rotatedTo: text('rotated_to'),
    // How long the one before it works on from its own first use; null once that has begun.
    graceSeconds: int('grace_seconds'),
    expiresAt: time('expires_at'),
    lastUsedAt: time('last_used_at'),
    lastUsedIp: text('last_used_ip'),
    revokedAt: time('revoked_at'),
    // The end that its workspace was last told of beforehand, and how many days before.
    warnedEnd: time('warned_end'),
    warnedDays: int('warned_days'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('tokens_hash').on(t.tokenHash),
    index('tokens_workspace').on(t.workspaceId, t.id),
    index('tokens_expires').on(t.expiresAt),
  ],
)

/** How often tokens used what is deprecated; the subject is `Deprecated.id`. */
export const deprecationUses = table(
  'deprecation_uses',
  {
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    tokenId: text('token_id')
      .notNull()
      .references(() => tokens.id, { onDelete: 'cascade' }),
    subject: text('subject').notNull(),
    uses: int('uses').notNull(),
    lastUsedAt: time('last_used_at').notNull(),
  },
  t => [primaryKey({ columns: [t.tokenId, t.subject] }), index('deprecation_uses_workspace').on(t.workspaceId)],
)
