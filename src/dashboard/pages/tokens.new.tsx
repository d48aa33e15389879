import type { Static } from '@sinclair/typebox'
import { useNavigate } from '@tanstack/react-router'
import { permissions } from '../../core/permissions'
import type { TokenWithSecret } from '../../features/tokens/shapes'
import { Advanced, Group } from '../parts/advanced'
import { CheckboxesField, Form, SelectField, useForm, type Values } from '../parts/form'
import { Card, Page } from '../parts/page'
import { PickResourcesField } from '../parts/pick-field'
import { showSecret } from '../parts/secret'
import { AddressesField, ExpiryField, NameField, bodyOf as fieldsOf } from './tokens/token-fields'
import { tokenModes } from './tokens/token-text'

/** Creates a token, and shows its value once. */
export default function NewToken() {
  const navigate = useNavigate()
  const leave = () => void navigate({ to: '/tokens' })
  const show = ({ name, token }: Static<typeof TokenWithSecret>) =>
    showSecret({
      title: 'Copy your token',
      description: 'It is shown only once. Bailiwick stores only a hash.',
      value: token,
      file: `token ${name}`,
      onClose: leave,
    })
  return (
    <Page parent="/tokens">
      <Card className="max-w-2xl">
        <Form<Static<typeof TokenWithSecret>>
          initial={{ name: '', mode: 'read_only', permissions: [], expires_at: '', resource_ids: [], allowed_cidrs: [] }}
          call={values => ({ method: 'POST', path: '/tokens', body: bodyOf(values) })}
          send={{ invalidates: ['/tokens'], onSuccess: show }}
          onCancel={leave}
          submitLabel="Create token"
        >
          <NameField />
          <SelectField
            name="mode"
            label="Access"
            hint="Full access includes members, tokens, and settings of the workspace."
            choices={tokenModes}
          />
          <Permissions />
          <ExpiryField />
          <Advanced>
            <Group label="Restrictions">
              <PickResourcesField
                name="resource_ids"
                label="Resources"
                hint="Monitors, heartbeats, channels, zones, and webhook endpoints that the token can access, within its permissions. Leave empty to allow all. A restricted token can’t create anything."
                isSearched={one => one.isRestrictable}
              />
              <AddressesField />
            </Group>
          </Advanced>
        </Form>
      </Card>
    </Page>
  )
}

function Permissions() {
  const { values } = useForm()
  if (values.mode !== 'scoped') return null
  const columns = 'grid grid-cols-2 gap-x-4 gap-y-1 sm:grid-cols-3'
  return (
    <CheckboxesField
      name="permissions"
      label="Permissions"
      hint="Write permissions include reading."
      choices={permissions}
      className={columns}
    />
  )
}

const bodyOf = (values: Values): Values => ({
  ...fieldsOf(values),
  mode: values.mode,
  ...(values.mode === 'scoped' && { permissions: values.permissions }),
  resource_ids: (values.resource_ids as string[]).length > 0 ? values.resource_ids : null,
})
