import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Form, SelectField } from '../../../parts/form'
import { wordsOf } from '../../../parts/status'
import { staleAt, useSend } from '../../../queries'
import { ActionOutcome } from '../action-outcome'

/** Brings all linked zones to the newest version, with how far that is. */
export function Rollout({ template }: { template: TemplateView }) {
  const client = useQueryClient()
  const [action, setAction] = useState<string | null>(null)
  const send = useSend<ActionView>({ quiet: true, onDone: made => setAction(made.id) })
  if (action !== null) return <ActionOutcome id={action} done={outcome} onEnd={() => void staleAt(client, '/dns')} />
  return (
    <Form
      initial={{ edited: 'skip' }}
      call={({ edited }) => ({ method: 'POST', path: `/dns/templates/${template.id}/rollout`, body: { edited } })}
      send={send.mutateAsync}
      pending={send.isPending}
      action="Roll it out"
    >
      <SelectField
        name="edited"
        label="Zones where its records were edited"
        choices={[
          ['skip', 'stay as they are'],
          ['restore', 'are as the template has them again'],
        ]}
      />
    </Form>
  )
}

/** The counts of the result in words: «3 applied, 1 failed». */
function outcome({ result }: ActionView): string {
  const counts = Object.entries(result ?? {}).filter(([, value]) => typeof value === 'number' && value > 0)
  return counts.length === 0
    ? 'No zone is linked to it.'
    : counts.map(([name, count]) => `${String(count)} ${wordsOf(name)}`).join(', ')
}
