import { useNavigate } from '@tanstack/react-router'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { useAddress } from '../../../parts/address'
import { Card, Loaded, Page } from '../../../parts/page'
import { useOne, useSend } from '../../../queries'
import { TemplateForm } from './template-form'
import { valuesOf } from './template-values'

const up = { to: '/dns/templates', label: 'Templates' }
const blank = {
  name: '',
  description: '',
  variables: [],
  records: [{ type: 'A', name: '@', content: '', on_conflict: 'fail' as const }],
}

/** Makes a template, from nothing or as a copy of the one that the address names. */
export default function NewTemplate() {
  const [{ from }] = useAddress({ from: '' })
  const found = useOne<TemplateView>(from === '' ? null : `/dns/templates/${from}`)
  if (from === '') return <Making template={blank} />
  return (
    <Loaded found={found} up={up}>
      {one => <Making template={{ ...one, name: `${one.name} (copy)` }} />}
    </Loaded>
  )
}

function Making({ template }: { template: Parameters<typeof valuesOf>[0] }) {
  const navigate = useNavigate()
  const send = useSend<TemplateView>({
    quiet: true,
    done: 'Template made',
    stale: ['/dns/templates'],
    onDone: made => void navigate({ to: '/dns/templates/$id', params: { id: made.id } }),
  })
  return (
    <Page title="New template" up={up} lead="Records with variables. Nothing changes in any zone until it is applied.">
      <Card>
        <TemplateForm
          initial={valuesOf(template)}
          call={body => ({ method: 'POST', path: '/dns/templates', body })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to: '/dns/templates' })}
          action="Make the template"
        />
      </Card>
    </Page>
  )
}
