import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Line, Nullable, Shape, Words } from '../../../core/shapes'
import { NewPassword } from '../shapes'
import { roles, type Preferences as StoredPreferences } from '../../../access/tables'

const preferences = {
  theme: Words(['system', 'light', 'dark'], { description: 'Color theme; `system` follows the device.' }),
  timezone: Nullable(Type.String({ minLength: 1, maxLength: 64 }), {
    description: 'IANA name of the time zone used to show times; null for the browser’s time zone.',
  }),
  hour_cycle: Words(['auto', '12', '24'], { description: '12-hour or 24-hour clock; `auto` follows the browser’s language.' }),
  density: Words(['comfortable', 'compact'], { description: 'Row spacing of lists.' }),
  sidebar_collapsed: Type.Boolean({ description: 'Whether the sidebar is collapsed to icons.' }),
  shortcuts: Type.Boolean({
    description: 'Whether single-key shortcuts, without Ctrl, Alt, or Meta, are enabled (WCAG 2.1, criterion 2.1.4).',
  }),
  dismissed: Type.Array(
    Type.String({
      pattern: '^[a-z][a-z0-9_.-]{0,49}$',
      'x-rule':
        'must start with a lowercase letter and contain only lowercase letters, digits, and _ . - (at most 50 characters).',
    }),
    { maxItems: 50, uniqueItems: true, description: 'Names of dismissed hints.' },
  ),
}
const examplePreferences = {
  theme: 'dark' as const,
  timezone: 'Europe/Berlin',
  hour_cycle: 'auto' as const,
  density: 'comfortable' as const,
  sidebar_collapsed: false,
  shortcuts: true,
  dismissed: ['welcome'],
}
const Preferences = Shape(preferences, {
  $id: 'Preferences',
  description: 'Dashboard preferences of a user, the same on all their devices.',
  examples: [examplePreferences],
})

/** Preferences of a user who has not changed any. */
export const defaultPreferences: StoredPreferences = {
  theme: 'system',
  timezone: null,
  hour_cycle: 'auto',
  density: 'comfortable',
  sidebar_collapsed: false,
  shortcuts: true,
  dismissed: [],
}

export const exampleUser = {
  id: 'usr_01jd8f3q7eeb9bv0w0r8c7hq2m',
  email: 'ada@example.com',
  name: 'Ada',
  operator: true,
  preferences: examplePreferences,
  second_factor: { one_time_codes: true, recovery_codes_remaining: 9, passkeys: 1 },
  workspaces: [{ id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'default', role: 'owner' }],
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
export const User = Shape(
  {
    id: Type.String({ description: 'ID of the user.' }),
    email: Type.String({ description: 'Email address, used to sign in.' }),
    name: Type.String({ description: 'Name of the user.' }),
    operator: Type.Boolean({ description: 'Whether the user is an operator of this installation.' }),
    preferences: Preferences,
    second_factor: Shape(
      {
        one_time_codes: Type.Boolean({ description: 'Whether signing in with a password also requires a one-time code.' }),
        recovery_codes_remaining: Type.Integer({
          description: 'Number of unused recovery codes; 0 if one-time codes are disabled.',
        }),
        passkeys: Type.Integer({ description: 'Number of passkeys. Each can be used to sign in on its own.' }),
      },
      { description: 'Second factors and passkeys of the user.' },
    ),
    workspaces: Type.Array(
      Shape({
        id: Type.String({ description: 'ID of the workspace.' }),
        name: Type.String({ description: 'Name of the workspace.' }),
        role: Words(roles, { description: 'Role of the user in the workspace.' }),
      }),
      {
        description: 'Workspaces of the user, with their role in each.',
      },
    ),
    ...editable,
  },
  { $id: 'User', description: 'A user.', examples: [exampleUser] },
)
export type UserView = Static<typeof User>

export const UserPatch = Shape(
  {
    name: Type.Optional(Line({ minLength: 1, maxLength: 100, description: 'Name of the user.' })),
    email: Type.Optional(Type.String({ format: 'email', description: 'Email address. Changing it requires the `password`.' })),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'The current password. Required to change the `email`.' }),
    ),
    preferences: Type.Optional(
      Type.Partial(Type.Object(preferences), { additionalProperties: false, description: 'Preferences to change.' }),
    ),
  },
  {
    $id: 'UserPatch',
    description: 'Changes to the profile.',
    examples: [{ name: 'Ada L.', preferences: { theme: 'dark' } }],
  },
)
export type UserPatch = Static<typeof UserPatch>

export const PasswordChange = Shape(
  {
    current: Type.String({ minLength: 1, maxLength: 1000, description: 'The current password.' }),
    new: NewPassword,
  },
  {
    $id: 'PasswordChange',
    description: 'The current and the new password.',
    examples: [{ current: 'correct horse battery', new: 'staple of another kind' }],
  },
)
export type PasswordChange = Static<typeof PasswordChange>
