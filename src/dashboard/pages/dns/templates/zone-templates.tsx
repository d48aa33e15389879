import { useState } from 'react'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { Button } from '../../../parts/button'
import { FilterSelect } from '../../../parts/filters'
import { closeDialog, openDialog } from '../../../parts/open-dialog'
import { useList } from '../../../queries'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { ApplyForm } from './apply-form'
import { Bindings } from './bindings'

const useTemplates = () => useList<TemplateView>('/dns/templates', { sort: 'name' }).rows

/** Templates tab of a zone. */
export default function ZoneTemplates({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const templates = useTemplates()
  const apply = () =>
    openDialog({
      title: `Apply template to ${zone.unicode_name}`,
      wide: true,
      content: <ChosenTemplate zoneId={zone.id} />,
    })
  const applyButton = canWrite && (
    <Button kind="primary" data-new onClick={apply}>
      Apply template
    </Button>
  )
  return (
    <ZoneFrame zone={zone} actions={applyButton}>
      <Bindings
        path={`/dns/zones/${zone.id}/template-bindings`}
        by="template"
        templates={templates}
        empty={{
          title: 'No templates applied',
          text: 'A template adds records to the zone and can keep them up to date.',
          action: applyButton,
        }}
      />
    </ZoneFrame>
  )
}

function ChosenTemplate({ zoneId }: { zoneId: string }) {
  const templates = useTemplates()
  const [selected, setSelected] = useState('')
  const template = templates.find(one => one.id === selected)
  return (
    <>
      <div className="mb-4">
        <FilterSelect
          label="Template"
          value={selected}
          onChange={setSelected}
          choices={[['', 'Choose a template'], ...templates.map(one => [one.id, one.name] as const)]}
        />
      </div>
      {template && <ApplyForm key={template.id} template={template} zoneId={zoneId} onEnd={closeDialog} />}
    </>
  )
}
