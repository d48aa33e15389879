import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import { Button } from '../../parts/button'
import { Mono } from '../../parts/code'
import { SelectField } from '../../parts/form'
import { confirm, openForm } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { RelativeTime } from '../../parts/time'
import { usePerson } from '../../session'
import { showToken, type SourceWithToken } from './show-token'

const invalidates = ['/dynamic-ips']

/** The token of a source, with actions to rotate and revoke it. */
export function Token({ source: { id, name, token } }: { source: DynamicIpView }) {
  const { canWrite } = usePerson()
  const path = `/dynamic-ips/${id}`
  const rotate = () =>
    openForm<SourceWithToken>({
      title: token.hint === null ? `Create a token for ${name}` : `Rotate the token of ${name}?`,
      submitLabel: token.hint === null ? 'Create token' : 'Rotate token',
      initial: { grace_seconds: '86400' },
      call: values => ({ method: 'POST', path: `${path}/rotate-token`, body: { grace_seconds: Number(values.grace_seconds) } }),
      send: { invalidates, onSuccess: created => showToken(created) },
      fields: token.hint !== null && (
        <SelectField
          name="grace_seconds"
          label="The old token keeps working"
          hint="So that you can enter the new token in the router without a gap."
          choices={graceChoices}
        />
      ),
    })
  const revoke = () =>
    confirm({
      title: `Revoke the token of ${name}?`,
      text: 'The router can’t report its address until you create a new token and enter it there. The records stay as they are.',
      action: 'Revoke token',
      call: { method: 'POST', path: `${path}/revoke-token` },
      send: { toast: 'Token revoked', invalidates },
    })
  return (
    <Card
      title="Token"
      actions={
        canWrite && (
          <>
            <Button small onClick={rotate}>
              {token.hint === null ? 'Create token' : 'Rotate token'}
            </Button>
            {token.hint !== null && (
              <Button small kind="danger" onClick={revoke}>
                Revoke token
              </Button>
            )}
          </>
        )
      }
      facts={[
        ['Token', token.hint === null ? <span className="text-muted">Revoked</span> : <Mono>{token.hint}</Mono>],
        ['Created', token.created_at && <RelativeTime at={token.created_at} />],
        ['Last used', <RelativeTime at={token.last_used_at} />],
        [
          'Old token',
          token.previous_valid_until && (
            <>
              Expires <RelativeTime at={token.previous_valid_until} past="now" />
            </>
          ),
        ],
      ]}
    />
  )
}

const graceChoices = [
  ['0', 'Not at all: it stops working immediately'],
  ['3600', 'For 1 hour'],
  ['86400', 'For 1 day'],
  ['604800', 'For 7 days'],
] as const
