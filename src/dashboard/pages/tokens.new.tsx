import type { Static } from '@sinclair/typebox'
import { useNavigate } from '@tanstack/react-router'
import { permissions } from '../../core/permissions'
import type { TokenWithSecret } from '../../features/tokens/shapes'
import { CheckboxesField, Form, Collapsible, SelectField, TextField, useForm, ListField, type Values } from '../parts/form'
import { Card, Page } from '../parts/page'
import { showSecret } from '../parts/secret'
import { localInputToIso } from '../parts/timezone'
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
          initial={{ name: '', mode: 'read_only', permissions: [], expires_at: '', allowed_cidrs: [] }}
          call={values => ({ method: 'POST', path: '/tokens', body: bodyOf(values) })}
          send={{ invalidates: ['/tokens'], onSuccess: show }}
          onCancel={leave}
          submitLabel="Create token"
        >
          <TextField
            name="name"
            label="Name"
            hint="What uses the token, and where. For example, backup script on db1."
            autoFocus
          />
          <SelectField
            name="mode"
            label="Access"
            hint="Full access includes members, tokens, and settings of the workspace."
            choices={tokenModes}
          />
          <Permissions />
          <TextField
            name="expires_at"
            label="Expires"
            type="datetime-local"
            hint="In your time zone. Leave empty for a token that never expires."
          />
          <Collapsible label="Allowed addresses" names={['allowed_cidrs']}>
            <ListField
              name="allowed_cidrs"
              label="IP addresses"
              hint="Addresses or CIDR ranges, such as 192.0.2.0/24. Leave empty to allow any."
            />
          </Collapsible>
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

function bodyOf(values: Values): Values {
  const { name, mode, permissions: chosen, expires_at: expiresAt, allowed_cidrs: allowedCidrs } = values
  return {
    name,
    mode,
    ...(mode === 'scoped' && { permissions: chosen }),
    ...(expiresAt !== '' && { expires_at: localInputToIso(expiresAt as string) }),
    ...((allowedCidrs as string[]).length > 0 && { allowed_cidrs: allowedCidrs }),
  }
}
