import { X } from 'lucide-react'
import { useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Button } from '../../../parts/button'
import { Columns, Form, TextField, WordsField } from '../../../parts/form'
import { Card } from '../../../parts/page'
import { Tag } from '../../../parts/status'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'

/** What at the providers is left alone without a word. */
export function IgnoreRules({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const [isAdding, setAdding] = useState(false)
  const path = `/dns/zones/${zone.id}`
  const rules = zone.ignore_rules
  const at = `ignore_rules.${rules.length}`
  const edit = useSend<ZoneView>({
    done: 'The rules were changed',
    quiet: isAdding,
    stale: ['/dns/zones'],
    undo: () => ({ method: 'PATCH', path, body: { ignore_rules: rules } }),
    onDone: () => setAdding(false),
  })
  return (
    <Card
      title="Left alone"
      className="mt-4"
      actions={
        mayWrite &&
        !isAdding && (
          <Button small onClick={() => setAdding(true)}>
            Add a rule
          </Button>
        )
      }
    >
      <p className="mb-3 text-muted">What is at a provider alone and fits one of these is neither told nor removed.</p>
      <ul className="flex flex-wrap gap-2">
        {rules.map(({ name, types }, index) => (
          <li key={index} className="inline-flex items-center gap-1.5 rounded-md border border-line py-1 pr-1 pl-2">
            <code className="font-mono text-[13px] wrap-anywhere">{name}</code>
            <Tag>{types ? types.join(', ') : 'any type'}</Tag>
            {mayWrite && (
              <button
                type="button"
                aria-label={`Remove the rule ${name}`}
                disabled={edit.isPending}
                onClick={() =>
                  edit.mutate({ method: 'PATCH', path, body: { ignore_rules: rules.filter((_, other) => other !== index) } })
                }
                className="rounded p-1 text-muted hover:bg-hover hover:text-ink"
              >
                <X className="size-3.5" aria-hidden />
              </button>
            )}
          </li>
        ))}
        {rules.length === 0 && <li className="text-muted">No rules.</li>}
      </ul>
      {isAdding && (
        <div className="mt-4 max-w-2xl">
          <Form
            initial={{ [`${at}.name`]: '', [`${at}.types`]: [] }}
            call={({ [`${at}.name`]: name, [`${at}.types`]: types }) => ({
              method: 'PATCH',
              path,
              body: {
                ignore_rules: [...rules, { name, ...((types as string[]).length > 0 && { types: upper(types as string[]) }) }],
              },
            })}
            send={edit.mutateAsync}
            pending={edit.isPending}
            onCancel={() => setAdding(false)}
            action="Add the rule"
          >
            <Columns>
              <TextField name={`${at}.name`} label="Name" mono hint="Within the zone; * stands for any text." autoFocus />
              <WordsField name={`${at}.types`} label="Types" hint="Empty is any type." />
            </Columns>
          </Form>
        </div>
      )}
    </Card>
  )
}

const upper = (types: readonly string[]) => types.map(one => one.toUpperCase())
