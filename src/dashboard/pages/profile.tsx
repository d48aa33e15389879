import type { UserView } from '../../features/people/profile/shapes'
import { CheckboxField, Form, SecretField, SelectField, TextField } from '../parts/form'
import { Card, Loaded, Page } from '../parts/page'
import { browserTimezone } from '../parts/timezone'
import { TimezoneField } from '../parts/timezone-field'
import { nested } from '../parts/values'
import type { Preferences } from '../preferences'
import { useOne } from '../queries'
import { themes } from '../shell/quick-actions'
import { OneTimeCodes } from './profile/one-time-codes'
import { Passkeys } from './profile/passkeys'
import { Sessions } from './profile/sessions'

/** The user's profile: name, email address, credentials, preferences and sessions. */
export default function Profile() {
  const found = useOne<UserView>('/users/me')
  return (
    <Loaded query={found}>
      {user => (
        <Page narrow description={user.email}>
          <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
            <div className="flex min-w-0 flex-col gap-4">
              <Card id="details" title="Details">
                <DetailsForm user={user} />
              </Card>
              <Card id="password" title="Password">
                <PasswordForm />
              </Card>
              <Card id="preferences" title="Preferences">
                <PreferencesForm preferences={user.preferences} />
              </Card>
            </div>
            <div className="flex min-w-0 flex-col gap-4">
              <OneTimeCodes user={user} />
              <Passkeys />
              <Sessions />
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  )
}

const invalidates = ['/users', '/sessions', '/members']

function DetailsForm({ user }: { user: UserView }) {
  const { name, email } = user
  return (
    <Form
      // Not by the version: preferences, which are saved elsewhere, would discard what is typed.
      key={`${name} ${email}`}
      initial={{ name, email, password: '' }}
      call={values => ({
        method: 'PATCH',
        path: '/users/me',
        body: { name: values.name, ...(values.email !== email && { email: values.email, password: values.password }) },
      })}
      send={{ toast: 'Changes saved', invalidates }}
      submitLabel="Save changes"
    >
      <TextField name="name" label="Name" autoComplete="name" />
      <TextField name="email" label="Email" type="email" autoComplete="email" hint="Used to sign in." />
      <SecretField
        name="password"
        label="Current password"
        autoComplete="current-password"
        hint="Only required to change your email."
      />
    </Form>
  )
}

const PasswordForm = () => (
  <Form
    initial={{ current: '', new: '' }}
    call={values => ({ method: 'POST', path: '/users/me/password', body: values })}
    send={{ toast: 'Password changed. You are signed out everywhere else.', invalidates }}
    resets
    submitLabel="Change password"
  >
    <SecretField name="current" label="Current password" autoComplete="current-password" />
    <SecretField
      name="new"
      label="New password"
      autoComplete="new-password"
      hint="At least 10 characters. Changing your password signs you out everywhere else."
    />
  </Form>
)

const preferenceNames = ['theme', 'timezone', 'hour_cycle', 'density', 'shortcuts'] as const satisfies (keyof Preferences)[]

function PreferencesForm({ preferences }: { preferences: Preferences }) {
  const initial = Object.fromEntries(preferenceNames.map(name => [`preferences.${name}`, preferences[name] ?? '']))
  return (
    <Form
      key={JSON.stringify(initial)}
      initial={initial}
      call={values => ({
        method: 'PATCH',
        path: '/users/me',
        body: {
          preferences: {
            ...nested('preferences', values),
            timezone: String(values['preferences.timezone']).trim() || null,
          },
        },
      })}
      send={{ toast: 'Changes saved', invalidates }}
      submitLabel="Save changes"
    >
      <SelectField name="preferences.theme" label="Theme" choices={themes.map(([value, label]) => [value, label] as const)} />
      <TimezoneField
        name="preferences.timezone"
        placeholder={browserTimezone()}
        hint="Times are shown and entered in this time zone. Leave empty to use the time zone of your browser."
      />
      <SelectField
        name="preferences.hour_cycle"
        label="Time format"
        choices={[
          ['auto', 'Browser default'],
          ['24', '24-hour'],
          ['12', '12-hour'],
        ]}
      />
      <SelectField name="preferences.density" label="Density" choices={{ comfortable: 'Comfortable', compact: 'Compact' }} />
      <CheckboxField
        name="preferences.shortcuts"
        label="Enable single-key shortcuts"
        hint="For example, c to create a resource. Shortcuts with Ctrl or ⌘ always work."
      />
    </Form>
  )
}
