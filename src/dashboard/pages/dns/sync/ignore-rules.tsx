import { X } from 'lucide-react'
import { useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { Columns, Form, TextField, ListField, type Values } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { SendButton } from '../../../parts/send-button'
import { Tag } from '../../../parts/status'
import { nested } from '../../../parts/values'
import { usePerson } from '../../../session'

/** Rules for unmanaged records that are ignored. */
export function IgnoreRules({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const [isAdding, setAdding] = useState(false)
  const path = `/dns/zones/${zone.id}`
  const rules = zone.ignore_rules
  const at = `ignore_rules.${rules.length}`
  const edited = (ignore_rules: ZoneView['ignore_rules']) => ({ method: 'PATCH', path, body: { ignore_rules } }) as const
  const send = { toast: 'Ignore rules updated', invalidates: ['/dns/zones'], undo: () => edited(rules) }
  return (
    <Card
      title="Ignore rules"
      className="mt-4"
      actions={
        canWrite &&
        !isAdding && (
          <Button small onClick={() => setAdding(true)}>
            Add rule
          </Button>
        )
      }
    >
      <p className="mb-3 text-muted">Unmanaged records that match a rule are not reported or deleted.</p>
      <ul className="flex flex-wrap gap-2">
        {rules.map(({ name, types }, index) => (
          <li key={index} className="inline-flex items-center gap-1.5 rounded-md border border-line py-1 pr-1 pl-2">
            <code className="font-mono text-[13px] wrap-anywhere">{name}</code>
            <Tag>{types ? types.join(', ') : 'any type'}</Tag>
            {canWrite && (
              <SendButton
                small
                kind="quiet"
                icon={X}
                aria-label={`Remove rule ${name}`}
                call={edited(rules.filter((_, other) => other !== index))}
                send={send}
              />
            )}
          </li>
        ))}
        {rules.length === 0 && <li className="text-muted">No rules yet.</li>}
      </ul>
      {isAdding && (
        <div className="mt-4 max-w-2xl">
          <Form
            initial={{ [`${at}.name`]: '', [`${at}.types`]: [] }}
            call={values => edited([...rules, ruleOf(nested(at, values))])}
            send={{ ...send, onSuccess: () => setAdding(false) }}
            onCancel={() => setAdding(false)}
            submitLabel="Add rule"
          >
            <Columns>
              <TextField name={`${at}.name`} label="Name" mono hint="Name within the zone. * matches any text." autoFocus />
              <ListField name={`${at}.types`} label="Types" hint="Leave empty for all types." />
            </Columns>
          </Form>
        </div>
      )}
    </Card>
  )
}

const ruleOf = ({ name, types }: Values): ZoneView['ignore_rules'][number] => ({
  name: name as string,
  ...((types as string[]).length > 0 && { types: (types as string[]).map(one => one.toUpperCase()) }),
})
