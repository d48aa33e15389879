import type { Static } from '@sinclair/typebox'
import type { TokenWithSecret, TokenCreator, TokenView } from '../../features/tokens/shapes'
import { Pencil } from 'lucide-react'
import { entryOfId } from '../../registry'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { SelectField } from '../parts/form'
import { confirm, openForm } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ResourceLinks } from '../parts/resource'
import { useResourceNames } from '../parts/resource-search'
import { showSecret } from '../parts/secret'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { changedFields } from '../parts/values'
import { usePerson } from '../session'
import { AddressesField, bodyOf, ExpiryField, NameField, valuesOf } from './tokens/token-fields'
import { statusOf, permissionsText } from './tokens/token-text'

/** Details of a token, with actions to rotate or revoke it. */
export default resourcePage({ path: '/tokens', parent: '/tokens', query: { expand: 'created_by' } }, TokenDetails)

function TokenDetails({ resource: token }: { resource: TokenView }) {
  const { canAdminister } = usePerson()
  const path = `/tokens/${token.id}`
  const names = useResourceNames(token.resource_ids)
  const resources = token.resource_ids.map(id => ({ id, type: entryOfId(id)?.name ?? '', name: names.get(id) ?? null }))
  const creator = token.expanded?.created_by as TokenCreator | null | undefined
  const rotate = () =>
    openForm<Static<typeof TokenWithSecret>>({
      title: `Rotate ${token.name}?`,
      description: 'This creates a new token with the same permissions.',
      submitLabel: 'Rotate token',
      initial: { grace_seconds: '86400' },
      call: values => ({ method: 'POST', path: `${path}/rotate`, body: { grace_seconds: Number(values.grace_seconds) } }),
      send: { invalidates: ['/tokens'], onSuccess: showNewToken },
      fields: (
        <SelectField
          name="grace_seconds"
          label="The old token keeps working"
          hint="If the new token is never used, the old one works for 30 days, unless you stop it now."
          choices={graceChoices}
        />
      ),
    })
  const edit = () => {
    const before = valuesOf(token)
    openForm({
      title: `Edit ${token.name}`,
      submitLabel: 'Save changes',
      initial: before,
      call: values => ({
        method: 'PATCH',
        path,
        ifMatch: token.version,
        body: changedFields(bodyOf(before), bodyOf(values)),
      }),
      send: { toast: 'Token saved', invalidates: ['/tokens'] },
      fields: (
        <>
          <NameField />
          <ExpiryField />
          <AddressesField />
        </>
      ),
    })
  }
  const revoke = () =>
    confirm({
      title: `Revoke ${token.name}?`,
      text: 'Anything that uses this token stops working immediately. This can’t be undone.',
      action: 'Revoke token',
      call: { method: 'DELETE', path },
      send: { toast: 'Token revoked', invalidates: ['/tokens'] },
      next: '/tokens',
    })
  const actions = canAdminister && token.revoked_at === null && (
    <>
      <Button icon={Pencil} onClick={edit}>
        Edit
      </Button>
      <Button onClick={rotate}>Rotate token</Button>
      <Button kind="danger" onClick={revoke}>
        Revoke token
      </Button>
    </>
  )
  return (
    <Page title={token.name} parent="/tokens" aside={<Status {...statusOf(token)} />} actions={actions}>
      <Card
        facts={[
          ['Token', <code className="font-mono">{token.hint}</code>],
          ['Permissions', permissionsText(token)],
          ['Created by', creator?.name ?? token.created_by],
          ['Created', <RelativeTime at={token.created_at} />],
          ['Last used', <RelativeTime at={token.last_used_at} />],
          ['Last used from', token.last_used_ip],
          ['Expires', <RelativeTime at={token.expires_at} />],
          ['Allowed addresses', token.allowed_cidrs.length > 0 ? token.allowed_cidrs.join(', ') : 'Any'],
          ['Resources', token.resource_ids.length > 0 ? <ResourceLinks of={resources} /> : 'Any'],
          ['ID', <CopyableText text={token.id} />],
        ]}
      />
    </Page>
  )
}

const graceChoices = {
  0: 'Not at all: revoke it now',
  3600: 'For 1 hour after the new one is first used',
  86400: 'For 1 day after the new one is first used',
  604800: 'For 7 days after the new one is first used',
}

const showNewToken = ({ name, token }: Static<typeof TokenWithSecret>) =>
  showSecret({
    title: 'Copy the new token',
    description: 'It is shown only once. Bailiwick stores only a hash.',
    value: token,
    file: `token ${name}`,
  })
