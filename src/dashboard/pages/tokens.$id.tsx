import type { TokenCreator, TokenView } from '../../features/tokens/shapes'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { Confirm, Dialog } from '../parts/dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useSend } from '../queries'
import { usePerson } from '../session'
import { statusOf, permissionsText } from './tokens/token-text'

/** Details of a token, with actions to rotate or revoke it. */
export default resourcePage<TokenView>({ path: '/tokens', parent: '/tokens', query: { expand: 'created_by' } }, token => (
  <TokenDetails token={token} />
))

function TokenDetails({ token }: { token: TokenView }) {
  const { canAdminister } = usePerson()
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  const [value, setValue] = useState<string | null>(null)
  const rotate = useSend<{ token: string }>({ invalidates: ['/tokens'], onSuccess: created => setValue(created.token) })
  const path = `/tokens/${token.id}`
  const creator = token.expanded?.created_by as TokenCreator | null | undefined
  const actions = canAdminister && token.revoked_at === null && (
    <>
      <Button onClick={() => rotate.mutate({ method: 'POST', path: `${path}/rotate`, body: {} })} disabled={rotate.isPending}>
        Rotate token
      </Button>
      <Button kind="danger" onClick={() => setConfirming(true)}>
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
      <Confirm
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={`Revoke ${token.name}?`}
        confirmLabel="Revoke token"
        call={() => ({ method: 'DELETE', path })}
        send={{ toast: 'Token revoked', invalidates: ['/tokens'], onSuccess: () => void navigate({ to: '/tokens' }) }}
      >
        Anything that uses this token stops working immediately. This can’t be undone.
      </Confirm>
      <Dialog
        open={value !== null}
        onClose={() => setValue(null)}
        title="Copy the new token"
        description="It is shown only once. The old token keeps working for a day after the new one is first used."
      >
        {value && <CopyableText text={value} label="the token" />}
      </Dialog>
    </Page>
  )
}
