import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Form, SelectField } from '../../../parts/form'
import { humanize } from '../../../parts/status'
import { invalidatePath } from '../../../queries'
import { ActionOutcome } from '../action-outcome'

/** Rolls out a template to all linked zones and shows the progress. */
export function Rollout({ template }: { template: TemplateView }) {
  const client = useQueryClient()
  const [action, setAction] = useState<string | null>(null)
  if (action !== null) return <ActionOutcome id={action} done={outcome} onEnd={() => void invalidatePath(client, '/dns')} />
  return (
    <Form<ActionView>
      initial={{ modified: 'skip' }}
      call={({ modified }) => ({ method: 'POST', path: `/dns/templates/${template.id}/rollout`, body: { modified } })}
      send={{ onSuccess: started => setAction(started.id) }}
      submitLabel="Start rollout"
    >
      <SelectField
        name="modified"
        label="Zones with modified records"
        choices={{ skip: 'Skip: keep the manual edits', restore: 'Update: revert the manual edits' }}
      />
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
