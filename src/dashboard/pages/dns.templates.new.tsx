import { useNavigate } from '@tanstack/react-router'
import type { TemplateView } from '../../features/dns/templates/shapes'
import { useUrlState } from '../parts/url-state'
import { Card, Loaded, Page } from '../parts/page'
import { useOne } from '../queries'
import { TemplateForm } from './dns/templates/template-form'
import { valuesOf } from './dns/templates/template-values'

const blank = {
  name: '',
  description: '',
  variables: [],
  records: [{ type: 'A', name: '@', content: '', on_conflict: 'fail' as const }],
}

/** Creates a template, blank or as a copy of the one in the URL. */
export default function NewTemplate() {
  const [{ from }] = useUrlState({ from: '' })
  const found = useOne<TemplateView>(from === '' ? null : `/dns/templates/${from}`)
  if (from === '') return <CreateTemplate template={blank} />
  return (
    <Loaded query={found} parent="/dns/templates">
      {one => <CreateTemplate template={{ ...one, name: `${one.name} (copy)` }} />}
    </Loaded>
  )
}

function CreateTemplate({ template }: { template: Parameters<typeof valuesOf>[0] }) {
  const navigate = useNavigate()
  return (
    <Page parent="/dns/templates" description="Define records with variables. Zones don’t change until you apply the template.">
      <Card>
        <TemplateForm
          initial={valuesOf(template)}
          call={body => ({ method: 'POST', path: '/dns/templates', body })}
          send={{
            toast: 'Template created',
            invalidates: ['/dns/templates'],
            onSuccess: ({ id }) => void navigate({ to: '/dns/templates/$id', params: { id } }),
          }}
          onCancel={() => void navigate({ to: '/dns/templates' })}
          action="Create template"
        />
      </Card>
    </Page>
  )
}
