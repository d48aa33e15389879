import { LayoutTemplate } from 'lucide-react'
import { useState } from 'react'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Button } from '../../../parts/button'
import { Dialog } from '../../../parts/dialog'
import { Empty } from '../../../parts/empty'
import { Choice } from '../../../parts/filters'
import { useList } from '../../../queries'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { ApplyForm } from './apply-form'
import { Bindings } from './bindings'

/** The templates that were applied to a zone. */
export default function ZoneTemplates({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const [isApplying, setApplying] = useState(false)
  const [chosen, setChosen] = useState('')
  const { rows: templates } = useList<TemplateView>('/dns/templates', { sort: 'name' })
  const template = templates.find(one => one.id === chosen)
  const begin = mayWrite && (
    <Button kind="main" data-new onClick={() => setApplying(true)}>
      Apply a template
    </Button>
  )
  return (
    <ZoneFrame zone={zone} actions={begin}>
      <Bindings
        path={`/dns/zones/${zone.id}/template-bindings`}
        by="template"
        templates={templates}
        empty={
          <Empty icon={LayoutTemplate} title="No templates here" action={begin}>
            A template puts records into the zone, and can keep them as it says.
          </Empty>
        }
      />
      <Dialog open={isApplying} onClose={() => setApplying(false)} title={`Apply a template to ${zone.unicode_name}`} wide>
        <div className="mb-4">
          <Choice
            label="Template"
            value={chosen}
            onChange={setChosen}
            choices={[['', 'Choose a template'], ...templates.map(one => [one.id, one.name] as const)]}
          />
        </div>
        {template && <ApplyForm key={template.id} template={template} zoneId={zone.id} onEnd={() => setApplying(false)} />}
      </Dialog>
    </ZoneFrame>
  )
}
