import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { TokenMaker, TokenView } from '../../../access/shapes'
import { Button } from '../../parts/button'
import { Copied } from '../../parts/code'
import { Confirm, Dialog } from '../../parts/dialog'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { Status } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { stateOf, whatItMay } from './token-words'

const up = { to: '/tokens', label: 'Tokens' }

/** One token: what it may do, when it was used; to replace or revoke it. */
export default function Token() {
  const { id } = useParams({ strict: false })
  const found = useOne<TokenView>(`/tokens/${id}`, { expand: 'created_by' })
  return (
    <Loaded found={found} up={up}>
      {token => <Shown token={token} />}
    </Loaded>
  )
}

function Shown({ token }: { token: TokenView }) {
  const { mayAdminister } = usePerson()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const [value, setValue] = useState<string | null>(null)
  const revoke = useSend({ done: 'Token revoked', stale: ['/tokens'], onDone: () => void navigate({ to: '/tokens' }) })
  const rotate = useSend<{ token: string }>({ stale: ['/tokens'], onDone: made => setValue(made.token) })
  const path = `/tokens/${token.id}`
  const maker = token.expanded?.created_by as TokenMaker | null | undefined
  const actions = mayAdminister && token.revoked_at === null && (
    <>
      <Button onClick={() => rotate.mutate({ method: 'POST', path: `${path}/rotate`, body: {} })} disabled={rotate.isPending}>
        Rotate
      </Button>
      <Button kind="bad" onClick={() => setAsking(true)}>
        Revoke
      </Button>
    </>
  )
  return (
    <Page title={token.name} up={up} aside={<Status {...stateOf(token)} />} actions={actions}>
      <Card>
        <Facts
          rows={[
            ['Token', <code className="font-mono">{token.hint}</code>],
            ['May', whatItMay(token)],
            ['Made by', maker?.name ?? token.created_by],
            ['Made', <Ago at={token.created_at} />],
            ['Last used', <Ago at={token.last_used_at} />],
            ['Last used from', token.last_used_ip],
            ['Ends', <Ago at={token.expires_at} />],
            ['Used from', token.allowed_cidrs.length > 0 ? token.allowed_cidrs.join(', ') : 'anywhere'],
            ['Narrowed to', token.resource_ids.length > 0 ? token.resource_ids.join(', ') : null],
            ['Id', <Copied text={token.id} />],
          ]}
        />
      </Card>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={`Revoke ${token.name}?`}
        action="Revoke token"
        pending={revoke.isPending}
        onConfirm={() => revoke.mutate({ method: 'DELETE', path })}
      >
        Whatever uses it is refused from its next request on. This cannot be undone.
      </Confirm>
      <Dialog
        open={value !== null}
        onClose={() => setValue(null)}
        title="Keep the new value"
        description="It is shown this once. The old one works for another day after the new one is first used."
      >
        {value && <Copied text={value} label="the token" />}
      </Dialog>
    </Page>
  )
}
