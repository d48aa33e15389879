import { Link } from '@tanstack/react-router'
import { LayoutTemplate } from 'lucide-react'
import type { ReactNode } from 'react'
import type { BindingDetail, BindingView } from '../../../../features/dns/templates/binding-shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Call } from '../../../client'
import { List, menuColumn, type TableColumns } from '../../../parts/list'
import { closeDialog, openDialog } from '../../../parts/open-dialog'
import { Problem } from '../../../parts/problem'
import { Status, Tag } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ApplyForm } from './apply-form'
import { BindingRecords } from './binding-records'
import { unbind } from './unbind'

const modes: Record<BindingView['mode'], string> = { linked: 'Linked', once: 'One-time' }

const states = { current: 'Current', outdated: 'Outdated', modified: 'Modified', failed: 'Failed' }

interface BindingsProps {
  /** API path of the list. */
  path: string
  /** First column: the zone or the template. */
  by: 'zone' | 'template'
  /** Has a column with the template too. */
  withTemplate?: boolean
  /** Shows it as a section of a page. */
  asSection?: string
  templates: readonly TemplateView[]
  empty: { title: string; text: string; action?: ReactNode }
}

/** Table of template bindings with their states and actions. */
export function Bindings({ path, by, withTemplate, asSection, templates, empty }: BindingsProps) {
  const { canWrite } = usePerson()
  const setMode = useSend<BindingView>({
    toast: one => (one.mode === 'linked' ? 'The zone follows the template' : 'The zone no longer follows the template'),
    undo: modeCall,
    invalidates: ['/dns/zones', '/dns/templates', '/dns/template-bindings'],
  })
  const nameOf = (id: string) => templates.find(one => one.id === id)?.name ?? id
  const view = (one: BindingView) =>
    openDialog({
      title: `${nameOf(one.template_id)} in ${one.zone}`,
      wide: true,
      content: <BindingRecords id={one.id} />,
    })
  const applyAgain = (one: BindingView) =>
    openDialog({
      title: `Apply ${nameOf(one.template_id)} to ${one.zone}`,
      description: 'Updates the zone to the latest version of the template and reverts manual edits to its records.',
      wide: true,
      content: <ApplyAgain binding={one} />,
    })
  const columns: TableColumns<BindingView> = [
    {
      title: by === 'zone' ? 'Zone' : 'Template',
      render: one => (
        <Link
          to={by === 'zone' ? '/dns/zones/$id' : '/dns/templates/$id'}
          params={{ id: by === 'zone' ? one.zone_id : one.template_id }}
          className="font-medium text-accent hover:underline"
        >
          {by === 'zone' ? one.zone : nameOf(one.template_id)}
        </Link>
      ),
    },
    withTemplate === true && { title: 'Template', render: one => nameOf(one.template_id) },
    { title: 'Host', width: '8rem', look: 'mono', render: one => one.host },
    {
      title: 'Status',
      width: '9rem',
      render: one => (
        <span title={one.error?.detail}>
          <Status status={one.state} />
        </span>
      ),
    },
    { title: 'Mode', width: '6rem', showFrom: 'md', render: one => <Tag>{modes[one.mode]}</Tag> },
    {
      title: 'Variables',
      showFrom: 'lg',
      render: one =>
        Object.entries(one.variables)
          .map(([name, value]) => `${name} ${value}`)
          .join(', ') || '–',
    },
    { title: 'Applied', width: '9rem', showFrom: 'md', render: one => <RelativeTime at={one.applied_at} /> },
    menuColumn(
      one => (by === 'zone' ? one.zone : nameOf(one.template_id)),
      one => [
        { label: 'View records', onSelect: () => view(one) },
        canWrite
          ? {
              label: one.mode === 'linked' ? 'Stop following the template' : 'Follow the template',
              onSelect: () => void setMode.mutate(modeCall(one)),
            }
          : null,
        canWrite ? { label: 'Apply again…', onSelect: () => applyAgain(one) } : null,
        canWrite ? '-' : null,
        canWrite ? { label: 'Remove from zone…', danger: true, onSelect: () => unbind(one, nameOf(one.template_id)) } : null,
      ],
    ),
  ]
  return (
    <List
      label={asSection ?? (by === 'zone' ? 'Zones' : 'Templates')}
      asSection={asSection !== undefined}
      path={path}
      columns={columns}
      filters={[{ name: 'state', label: 'Status', all: 'All statuses', choices: states }]}
      empty={{ icon: LayoutTemplate, ...empty }}
    />
  )
}

/** Switches whether a binding is updated with its template. */
const modeCall = ({ id, mode }: BindingView): Call => ({
  method: 'PATCH',
  path: `/dns/template-bindings/${id}`,
  body: { mode: mode === 'linked' ? 'once' : 'linked' },
})

function ApplyAgain({ binding }: { binding: BindingView }) {
  const template = useOne<TemplateView>(`/dns/templates/${binding.template_id}`)
  const detail = useOne<BindingDetail>(`/dns/template-bindings/${binding.id}`)
  if (template.error) return <Problem error={template.error} />
  if (!template.data || !detail.data) return <div className="h-40 animate-pulse rounded-md bg-hover" />
  return <ApplyForm template={template.data} binding={detail.data} onEnd={closeDialog} />
}
