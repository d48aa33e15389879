import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Line, Nullable, Shape, Words } from '../core/shapes'
import { roles, type Preferences as Chosen } from './tables'

const preferences = {
  theme: Words(['system', 'light', 'dark'], { description: 'Colours: those of the device, or always the same.' }),
  timezone: Nullable(Type.String({ minLength: 1, maxLength: 64 }), {
    description: 'IANA name of the time zone in which times are shown; null is that of the browser.',
  }),
  hour_cycle: Words(['auto', '12', '24'], { description: 'How hours are counted; `auto` as the language of the browser does.' }),
  density: Words(['comfortable', 'compact'], { description: 'How much room rows take.' }),
  sidebar_collapsed: Type.Boolean({ description: 'Whether the sidebar shows icons alone.' }),
  shortcuts: Type.Boolean({
    description: 'Whether keys alone, without Ctrl, Alt or Meta, do something (WCAG 2.1, criterion 2.1.4).',
  }),
  dismissed: Type.Array(
    Type.String({
      pattern: '^[a-z][a-z0-9_.-]{0,49}$',
      'x-rule': 'must be at most 50 lower-case letters, digits and _ . - and begin with a letter.',
    }),
    { maxItems: 50, uniqueItems: true, description: 'Names of hints that were put away.' },
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
export const Preferences = Shape(preferences, {
  $id: 'Preferences',
  description: 'How a person wants the dashboard, on all their devices.',
  examples: [examplePreferences],
})

/** What holds for somebody who chose nothing. */
export const firstPreferences: Chosen = {
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
  second_factor: { one_time_codes: true, recovery_codes_left: 9, passkeys: 1 },
  workspaces: [{ id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'default', role: 'owner' }],
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
export const User = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    email: Type.String({ description: 'Login.' }),
    name: Type.String({ description: 'Name.' }),
    operator: Type.Boolean({ description: 'Whether they run this installation.' }),
    preferences: Preferences,
    second_factor: Shape(
      {
        one_time_codes: Type.Boolean({ description: 'Whether signing in by password takes a one-time code, too.' }),
        recovery_codes_left: Type.Integer({ description: 'Recovery codes that were not used; 0 where one-time codes are off.' }),
        passkeys: Type.Integer({ description: 'Passkeys they have: each signs in alone.' }),
      },
      { description: 'What they prove themselves with beside the password.' },
    ),
    workspaces: Type.Array(Shape({ id: Type.String(), name: Type.String(), role: Words(roles) }), {
      description: 'Workspaces they belong to, with their role.',
    }),
    ...editable,
  },
  { $id: 'User', description: 'A person.', examples: [exampleUser] },
)
export type UserView = Static<typeof User>

export const UserPatch = Shape(
  {
    name: Type.Optional(Line({ minLength: 1, maxLength: 100, description: 'Name.' })),
    email: Type.Optional(Type.String({ format: 'email', description: 'Login. Another one takes the `password`, too.' })),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1000, description: 'The password as it is. Required with another `email`.' }),
    ),
    preferences: Type.Optional(
      Type.Partial(Type.Object(preferences), { additionalProperties: false, description: 'Those that are to change.' }),
    ),
  },
  {
    $id: 'UserPatch',
    description: 'What people change of themselves.',
    examples: [{ name: 'Ada L.', preferences: { theme: 'dark' } }],
  },
)
export type UserPatch = Static<typeof UserPatch>

export const PasswordChange = Shape(
  {
    current: Type.String({ minLength: 1, maxLength: 1000, description: 'The password as it is.' }),
    new: Type.String({ minLength: 10, maxLength: 1000, description: 'At least 10 characters, and not the e-mail.' }),
  },
  {
    $id: 'PasswordChange',
    description: 'Another password.',
    examples: [{ current: 'correct horse battery', new: 'staple of another kind' }],
  },
)
export type PasswordChange = Static<typeof PasswordChange>
