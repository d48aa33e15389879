import { Trash2 } from 'lucide-react'
import type { BuiltinProviderPatch, BuiltinProviderView } from '../../../../features/dns/transfers/shapes'
import { Button } from '../../../parts/button'
import { Columns, NumberField, SelectField, TextField } from '../../../parts/form'
import { openForm } from '../../../parts/open-dialog'
import { Card } from '../../../parts/page'
import { SendButton } from '../../../parts/send-button'
import { Status, Tag } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { flattened, nested } from '../../../parts/values'
import type { SendOptions } from '../../../queries'
import { usePerson } from '../../../session'
import type { BuiltinProps } from '../transfer-columns'

const path = '/dns/providers/builtin'

/** Secondaries that are notified of changes, with the result of the last NOTIFY. */
export function Secondaries({ server, keys }: BuiltinProps) {
  const { canWrite } = usePerson()
  const current = server.secondaries.map(inputOf)
  const at = `secondaries.${current.length}`
  const edited = (secondaries: readonly SecondaryInput[]) =>
    ({ method: 'PATCH', path, ifMatch: server.version, body: { secondaries } }) as const
  const send: SendOptions<BuiltinProviderView> = {
    toast: 'Secondaries updated',
    invalidates: ['/dns/providers'],
    undo: () => ({ method: 'PATCH', path, body: { secondaries: current } }),
  }
  const add = () =>
    openForm({
      title: 'Add secondary',
      description: 'Receives a NOTIFY for each change (RFC 1996). The network policy of the workspace must allow its address.',
      initial: flattened(at, { name: '', address: '', port: 53, tsig_key_id: keys[0]?.id ?? '' }),
      call: values => {
        const { port, tsig_key_id, ...added } = nested(at, values)
        return edited([...current, { ...added, port: port ?? 53, tsig_key_id: tsig_key_id || null } as SecondaryInput])
      },
      send,
      fields: (
        <>
          <TextField name={`${at}.name`} label="Name" autoFocus />
          <Columns>
            <TextField name={`${at}.address`} label="Address" mono hint="IP address or hostname" />
            <NumberField name={`${at}.port`} label="Port" min={1} max={65_535} />
          </Columns>
          <SelectField
            name={`${at}.tsig_key_id`}
            label="Key"
            hint="Signs NOTIFY messages."
            choices={[['', 'None'], ...keys.map(one => [one.id, one.name] as const)]}
          />
        </>
      ),
    })
  const keyOf = (id: string | null) => keys.find(one => one.id === id)?.name
  return (
    <Card
      title="Secondaries"
      flush
      actions={
        canWrite && (
          <Button small onClick={add}>
            Add secondary
          </Button>
        )
      }
    >
      <ul className="divide-y divide-line">
        {server.secondaries.map((one, index) => (
          <li key={one.id} className="flex items-start gap-2 px-4 py-2.5">
            <div className="min-w-0 grow">
              <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
                <span className="font-medium">{one.name || one.address}</span>
                <code className="font-mono text-[13px] wrap-anywhere">
                  {one.address} {one.port}
                </code>
                {keyOf(one.tsig_key_id) && <Tag>{keyOf(one.tsig_key_id)!}</Tag>}
                {one.error ? (
                  <Status status="failed" label="failing" />
                ) : one.acknowledged_at ? (
                  <Status status="ok" label="responding" />
                ) : (
                  <Status status="new" label="not notified yet" />
                )}
              </p>
              <p className="text-[13px] text-muted">
                Last notified <RelativeTime at={one.notified_at} /> · Last response <RelativeTime at={one.acknowledged_at} />
              </p>
              {one.error && <p className="text-bad wrap-anywhere">{one.error}</p>}
            </div>
            {canWrite && (
              <SendButton
                small
                kind="quiet"
                aria-label={`Remove ${one.name || one.address}`}
                icon={Trash2}
                call={edited(current.filter((_, other) => other !== index))}
                send={send}
              />
            )}
          </li>
        ))}
        {current.length === 0 && (
          <li className="p-4 text-muted">No secondaries yet. Add the name servers to notify when a zone changes.</li>
        )}
      </ul>
    </Card>
  )
}

type SecondaryInput = NonNullable<BuiltinProviderPatch['secondaries']>[number]

const inputOf = ({ name, address, port, tsig_key_id }: BuiltinProviderView['secondaries'][number]): SecondaryInput => ({
  name,
  address,
  port,
  tsig_key_id,
})
