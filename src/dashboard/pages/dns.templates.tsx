import { LayoutTemplate } from 'lucide-react'
import type { TemplateView } from '../../features/dns/templates/shapes'
import { ListPage, type Column } from '../parts/list'
import { Tag } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useList } from '../queries'
import { Bindings } from './dns/templates/bindings'
import { dnsTabs } from './dns/dns-tabs'

const columns: readonly Column<TemplateView>[] = [
  { title: 'Template', width: 'clamp(10rem, 22cqw, 24rem)', sort: 'name', look: 'strong', render: one => one.name },
  { title: 'Origin', width: '8rem', onPhone: 'corner', render: one => <Tag>{one.builtin ? 'built-in' : 'custom'}</Tag> },
  { title: 'Description', showFrom: 'md', look: 'muted', onPhone: 'line', render: one => one.description },
  { title: 'Records', width: '6rem', alignRight: true, render: one => one.records.length },
  { title: 'Variables', width: '7rem', alignRight: true, showFrom: 'lg', render: one => one.variables.length },
  {
    title: 'Updated',
    width: '9rem',
    sort: 'updated_at',
    showFrom: 'lg',
    render: one => !one.builtin && <RelativeTime at={one.updated_at} />,
  },
]

/** List of DNS templates. */
export default function Templates() {
  const { rows: templates, isLoading } = useList<TemplateView>('/dns/templates', { sort: 'name' })
  return (
    <ListPage
      label="Templates"
      description="Sets of records with variables that you can apply to many zones and keep up to date."
      tabs={dnsTabs}
      path="/dns/templates"
      page="/dns/templates/$id"
      create="/dns/templates/new"
      columns={columns}
      sort="name"
      search
      filters={[{ name: 'origin', label: 'Origin', all: 'All origins', choices: { custom: 'Custom', builtin: 'Built-in' } }]}
      empty={{
        icon: LayoutTemplate,
        text: 'Define records once, with variables for values that differ, and apply them to any number of zones.',
      }}
    >
      {/* Below the list, so it is only shown where it will stay. */}
      {!isLoading && (
        <div className="mt-8">
          <Bindings
            path="/dns/template-bindings"
            by="zone"
            withTemplate
            asSection="Zones with templates"
            templates={templates}
            empty={{ title: 'No templates applied', text: 'Zones that a template was applied to are listed here.' }}
          />
        </div>
      )}
    </ListPage>
  )
}
