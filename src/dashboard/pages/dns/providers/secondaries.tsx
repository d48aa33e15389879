import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { BuiltinProviderPatch, BuiltinProviderView, TsigKeyView } from '../../../../features/dns/transfers/shapes'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { Columns, Form, NumberField, SelectField, TextField } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { Status, Tag } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'

interface SecondariesProps {
  server: BuiltinProviderView
  keys: readonly TsigKeyView[]
}

const path = '/dns/providers/builtin'

/** Servers that are told of each change, and whether they answered. */
export function Secondaries({ server, keys }: SecondariesProps) {
  const { mayWrite } = usePerson()
  const [isAdding, setAdding] = useState(false)
  const kept = server.secondaries.map(given)
  const at = `secondaries.${kept.length}`
  const edit = useSend<BuiltinProviderView>({
    done: 'The secondaries were changed',
    quiet: isAdding,
    stale: ['/dns/providers'],
    undo: () => ({ method: 'PATCH', path, body: { secondaries: kept } }),
    onDone: () => setAdding(false),
  })
  const keyOf = (id: string | null) => keys.find(one => one.id === id)?.name
  return (
    <Card
      title="Secondaries"
      flush
      actions={
        mayWrite && (
          <Button small onClick={() => setAdding(true)}>
            Add a secondary
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
                {one.problem ? (
                  <Status state="failed" label="does not answer" />
                ) : one.answered_at ? (
                  <Status state="ok" label="answers" />
                ) : (
                  <Status state="new" label="not told yet" />
                )}
              </p>
              <p className="text-[13px] text-muted">
                told <Ago at={one.notified_at} /> · answered <Ago at={one.answered_at} />
              </p>
              {one.problem && <p className="text-bad wrap-anywhere">{one.problem}</p>}
            </div>
            {mayWrite && (
              <Button
                small
                kind="quiet"
                aria-label={`Remove ${one.name || one.address}`}
                icon={<Trash2 className="size-4" aria-hidden />}
                disabled={edit.isPending}
                onClick={() =>
                  edit.mutate({
                    method: 'PATCH',
                    path,
                    ifMatch: server.version,
                    body: { secondaries: kept.filter((_, other) => other !== index) },
                  })
                }
              />
            )}
          </li>
        ))}
        {kept.length === 0 && <li className="p-4 text-muted">None. Zones are answered for by this hub alone.</li>}
      </ul>
      <Dialog
        open={isAdding}
        onClose={() => setAdding(false)}
        title="Add a secondary"
        description="It is told of each change by NOTIFY (RFC 1996), at an address that the network policy of the workspace allows."
      >
        <Form
          initial={{ [`${at}.name`]: '', [`${at}.address`]: '', [`${at}.port`]: 53, [`${at}.tsig_key_id`]: keys[0]?.id ?? '' }}
          call={values => ({
            method: 'PATCH',
            path,
            ifMatch: server.version,
            body: {
              secondaries: [
                ...kept,
                {
                  name: values[`${at}.name`],
                  address: values[`${at}.address`],
                  port: values[`${at}.port`] ?? 53,
                  tsig_key_id: values[`${at}.tsig_key_id`] === '' ? null : values[`${at}.tsig_key_id`],
                },
              ],
            },
          })}
          send={edit.mutateAsync}
          pending={edit.isPending}
          onCancel={() => setAdding(false)}
          action="Add it"
        >
          <TextField name={`${at}.name`} label="Name" hint="What people know it by." autoFocus />
          <Columns>
            <TextField name={`${at}.address`} label="Address" mono hint="IP address or host name." />
            <NumberField name={`${at}.port`} label="Port" min={1} max={65_535} />
          </Columns>
          <SelectField
            name={`${at}.tsig_key_id`}
            label="Key"
            hint="What NOTIFY is signed with."
            choices={[['', 'None'], ...keys.map(one => [one.id, one.name] as const)]}
          />
        </Form>
      </Dialog>
    </Card>
  )
}

type Given = NonNullable<BuiltinProviderPatch['secondaries']>[number]

const given = ({ name, address, port, tsig_key_id }: BuiltinProviderView['secondaries'][number]): Given => ({
  name,
  address,
  port,
  tsig_key_id,
})
