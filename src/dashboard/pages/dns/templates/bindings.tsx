import { Link } from '@tanstack/react-router'
import { LayoutTemplate } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { BindingDetail, BindingView } from '../../../../features/dns/templates/binding-shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Dialog } from '../../../parts/dialog'
import { List, menuColumn, type Column } from '../../../parts/list'
import { Problem } from '../../../parts/problem'
import { Status, Tag, capitalize, humanize, type Tone } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ApplyForm } from './apply-form'
import { BindingRecords } from './binding-records'
import { Unbind } from './unbind'

const tones: Record<BindingView['state'], Tone> = { current: 'ok', outdated: 'warn', modified: 'warn', failed: 'bad' }

const states = Object.keys(tones).map(one => [one, capitalize(humanize(one))] as const)

interface BindingsProps {
  /** API path of the list. */
  path: string
  /** First column: the zone or the template. */
  by: 'zone' | 'template'
  templates: readonly TemplateView[]
  empty: { title: string; text: string; action?: ReactNode }
}

/** Table of template bindings with their states and actions. */
export function Bindings({ path, by, templates, empty }: BindingsProps) {
  const { canWrite } = usePerson()
  const [applying, setApplying] = useState<BindingView | null>(null)
  const [viewing, setViewing] = useState<BindingView | null>(null)
  const [deleting, setDeleting] = useState<BindingView | null>(null)
  const nameOf = (id: string) => templates.find(one => one.id === id)?.name ?? id
  const columns: readonly Column<BindingView>[] = [
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
    { title: 'Host', width: '8rem', showFrom: 'sm', render: one => <code className="font-mono text-[13px]">{one.host}</code> },
    {
      title: 'Status',
      width: '9rem',
      render: one => (
        <span title={one.error?.detail}>
          <Status status={one.state} tone={tones[one.state]} />
        </span>
      ),
    },
    { title: 'Mode', width: '6rem', showFrom: 'md', render: one => <Tag>{one.mode}</Tag> },
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
        { label: 'View records', onSelect: () => setViewing(one) },
        canWrite ? { label: 'Apply again…', onSelect: () => setApplying(one) } : null,
        canWrite ? '-' : null,
        canWrite ? { label: 'Remove from zone…', danger: true, onSelect: () => setDeleting(one) } : null,
      ],
    ),
  ]
  return (
    <>
      <List
        label="Bindings"
        path={path}
        columns={columns}
        filters={[{ name: 'state', label: 'Status', all: 'All statuses', choices: states }]}
        empty={{ icon: LayoutTemplate, ...empty }}
      />
      <Dialog
        open={applying !== null}
        onClose={() => setApplying(null)}
        title={applying && `Apply ${nameOf(applying.template_id)} to ${applying.zone}`}
        description="Updates the zone to the latest version of the template and reverts manual edits."
        wide
      >
        {applying && <ApplyAgain binding={applying} onEnd={() => setApplying(null)} />}
      </Dialog>
      <Dialog
        open={viewing !== null}
        onClose={() => setViewing(null)}
        title={viewing && `${nameOf(viewing.template_id)} in ${viewing.zone}`}
        wide
      >
        {viewing && <BindingRecords id={viewing.id} />}
      </Dialog>
      {deleting && <Unbind binding={deleting} name={nameOf(deleting.template_id)} onEnd={() => setDeleting(null)} />}
    </>
  )
}

function ApplyAgain({ binding, onEnd }: { binding: BindingView; onEnd(): void }) {
  const template = useOne<TemplateView>(`/dns/templates/${binding.template_id}`)
  const detail = useOne<BindingDetail>(`/dns/template-bindings/${binding.id}`)
  if (template.error) return <Problem error={template.error} />
  if (!template.data || !detail.data) return <div className="h-40 animate-pulse rounded-md bg-hover" />
  return <ApplyForm template={template.data} binding={detail.data} onEnd={onEnd} />
}
