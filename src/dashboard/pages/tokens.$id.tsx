import type { Static } from '@sinclair/typebox'
import type { TokenWithSecret, TokenCreator, TokenView } from '../../features/tokens/shapes'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { confirm } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { showSecret } from '../parts/secret'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { statusOf, permissionsText } from './tokens/token-text'

/** Details of a token, with actions to rotate or revoke it. */
export default resourcePage({ path: '/tokens', parent: '/tokens', query: { expand: 'created_by' } }, TokenDetails)

function TokenDetails({ resource: token }: { resource: TokenView }) {
  const { canAdminister } = usePerson()
  const path = `/tokens/${token.id}`
  const creator = token.expanded?.created_by as TokenCreator | null | undefined
  const rotate = () =>
    confirm<Static<typeof TokenWithSecret>>({
      title: `Rotate ${token.name}?`,
      text: `This creates a new token with the same permissions. ${oldTokenText}`,
      action: 'Rotate token',
      call: { method: 'POST', path: `${path}/rotate`, body: {} },
      send: { invalidates: ['/tokens'], onSuccess: showNewToken },
    })
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
          ['Restricted to', token.resource_ids.length > 0 ? token.resource_ids.join(', ') : null],
          ['ID', <CopyableText text={token.id} />],
        ]}
      />
    </Page>
  )
}

const oldTokenText = 'The old token keeps working for a day after the new one is first used, or for 30 days if it is never used.'

const showNewToken = ({ name, token }: Static<typeof TokenWithSecret>) =>
  showSecret({
    title: 'Copy the new token',
    description: `It is shown only once. ${oldTokenText}`,
    value: token,
    file: `token ${name}`,
  })
