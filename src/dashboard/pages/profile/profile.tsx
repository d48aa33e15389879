import type { UserView } from '../../../access/user-shapes'
import { CheckField, Form, SecretField, SelectField, TextField } from '../../parts/form'
import { Card, Loaded, Page } from '../../parts/page'
import { ownTimezone } from '../../parts/timezone'
import { TimezoneField } from '../../parts/timezone-field'
import type { Preferences } from '../../preferences'
import { useOne, useSend } from '../../queries'
import { OneTimeCodes } from './one-time-codes'
import { Passkeys } from './passkeys'
import { Sessions } from './sessions'

/** What a person has of their own here: name and login, what proves them, where they are signed in. */
export default function Profile() {
  const found = useOne<UserView>('/users/me')
  return (
    <Loaded found={found}>
      {user => (
        <Page title="Your profile" lead={user.email}>
          <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
            <div className="flex min-w-0 flex-col gap-4">
              <Card title="You">
                <Own user={user} />
              </Card>
              <Card title="Password">
                <Password />
              </Card>
              <Card title="How you like it">
                <Liked preferences={user.preferences} />
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

const stale = ['/users', '/sessions', '/members']

function Own({ user }: { user: UserView }) {
  const { name, email } = user
  const send = useSend({ quiet: true, done: 'Saved', stale })
  return (
    <Form
      key={user.version}
      initial={{ name, email, password: '' }}
      call={values => ({
        method: 'PATCH',
        path: '/users/me',
        body: {
          name: values.name,
          ...(values.email !== email && { email: values.email, password: values.password }),
        },
      })}
      send={send.mutateAsync}
      pending={send.isPending}
      action="Save"
    >
      <TextField name="name" label="Name" autoComplete="name" />
      <TextField name="email" label="E-mail" type="email" autoComplete="email" hint="Your login." />
      <SecretField name="password" label="Current password" autoComplete="current-password" hint="Only for another e-mail." />
    </Form>
  )
}

function Password() {
  const send = useSend({ quiet: true, done: 'The password is changed; your other sessions have ended', stale })
  return (
    <Form
      key={send.submittedAt}
      initial={{ current: '', new: '' }}
      call={values => ({ method: 'POST', path: '/users/me/password', body: values })}
      send={send.mutateAsync}
      pending={send.isPending}
      action="Change the password"
    >
      <SecretField name="current" label="Current password" autoComplete="current-password" />
      <SecretField
        name="new"
        label="New password"
        autoComplete="new-password"
        hint="At least 10 characters. Your other sessions end."
      />
    </Form>
  )
}

const likings = ['theme', 'timezone', 'hour_cycle', 'density', 'shortcuts'] as const satisfies (keyof Preferences)[]

function Liked({ preferences }: { preferences: Preferences }) {
  const send = useSend({ quiet: true, done: 'Saved', stale })
  return (
    <Form
      key={JSON.stringify(preferences)}
      initial={Object.fromEntries(likings.map(name => [`preferences.${name}`, preferences[name] ?? '']))}
      call={values => ({
        method: 'PATCH',
        path: '/users/me',
        body: {
          preferences: {
            ...Object.fromEntries(likings.map(name => [name, values[`preferences.${name}`]])),
            timezone: String(values['preferences.timezone']).trim() || null,
          },
        },
      })}
      send={send.mutateAsync}
      pending={send.isPending}
      action="Save"
    >
      <SelectField
        name="preferences.theme"
        label="Theme"
        choices={[
          ['system', 'As the system'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
      />
      <TimezoneField
        name="preferences.timezone"
        placeholder={ownTimezone()}
        hint="In which times are shown and typed. Empty is that of the browser."
      />
      <SelectField
        name="preferences.hour_cycle"
        label="Hours"
        choices={[
          ['auto', 'As the language of the browser counts them'],
          ['24', '0 to 23'],
          ['12', '1 to 12, am and pm'],
        ]}
      />
      <SelectField
        name="preferences.density"
        label="Rows of lists"
        choices={[
          ['comfortable', 'With room'],
          ['compact', 'Close together'],
        ]}
      />
      <CheckField
        name="preferences.shortcuts"
        label="Keys alone do something"
        hint="Such as c for a new one. Those with Ctrl or ⌘ always do."
      />
    </Form>
  )
}
