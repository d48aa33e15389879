import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { BlockedView } from '../../../../features/dns/plans/op-shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Advanced, Group } from '../../../parts/advanced'
import { CheckboxesField, Form, SelectField, TextField } from '../../../parts/form'
import { labelOf } from '../../../parts/labels'
import { humanize } from '../../../parts/status'
import { invalidatePath } from '../../../queries'
import { ActionOutcome } from '../action-outcome'

/** Safety checks that may block changes by a template. */
const overridable = [
  'updates_over_limit',
  'deletes_over_limit',
  'replaces_template',
  'locked',
  'unsupported',
  'apex_ns_change',
  'loses_apex_ns',
  'loses_apex_mx',
  'loses_apex_address',
  'loses_ds',
  'loses_caa',
] as const satisfies readonly BlockedView['reasons'][number]['code'][]

/** Rolls out a template to all linked zones and shows the progress. */
export function Rollout({ template }: { template: TemplateView }) {
  const client = useQueryClient()
  const [action, setAction] = useState<string | null>(null)
  if (action !== null) return <ActionOutcome id={action} done={outcome} onEnd={() => void invalidatePath(client, '/dns')} />
  return (
    <Form<ActionView>
      initial={{ modified: 'skip', allow: [], note: '' }}
      call={({ modified, allow, note }) => ({
        method: 'POST',
        path: `/dns/templates/${template.id}/rollout`,
        body: { modified, ...((allow as string[]).length > 0 && { allow }), ...(note !== '' && { note }) },
      })}
      send={{ onSuccess: started => setAction(started.id) }}
      submitLabel="Start rollout"
    >
      <SelectField
        name="modified"
        label="Zones with modified records"
        choices={{ skip: 'Skip: keep the manual edits', restore: 'Update: revert the manual edits' }}
      />
      <TextField name="note" label="Note" hint="Stored in the history. Required to override safety checks." />
      <Advanced>
        <Group label="Override safety checks">
          <CheckboxesField
            name="allow"
            label="Checks that don’t block the rollout"
            choices={overridable.map(code => [code, labelOf(code)] as const)}
            className="grid gap-1 sm:grid-cols-2"
          />
          <a className="text-accent underline" href="/docs/dns-sync#safety-checks">
            About safety checks
          </a>
        </Group>
      </Advanced>
    </Form>
  )
}

/** Summary of the result, such as “3 applied, 1 failed”. */
function outcome({ result }: ActionView): string {
  const counts = Object.entries(result ?? {}).filter(([, value]) => typeof value === 'number' && value > 0)
  return counts.length === 0
    ? 'No zones are linked to this template.'
    : counts.map(([name, count]) => `${String(count)} ${humanize(name)}`).join(', ')
}
