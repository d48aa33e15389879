import { Link } from '@tanstack/react-router'
import { LayoutTemplate } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { BindingDetail, BindingView } from '../../../../features/dns/templates/binding-shapes'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { useAddress } from '../../../parts/address'
import { Dialog } from '../../../parts/dialog'
import { Empty } from '../../../parts/empty'
import { Choice, Filters } from '../../../parts/filters'
import { Menu } from '../../../parts/menu'
import { Problem } from '../../../parts/problem'
import { Status, Tag, wordsOf, type Mood } from '../../../parts/status'
import { Table, type Column } from '../../../parts/table'
import { Ago } from '../../../parts/time'
import { useList, useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ApplyForm } from './apply-form'
import { BindingEdits } from './binding-edits'
import { Unbind } from './unbind'

const moods: Record<BindingView['state'], Mood> = { current: 'ok', outdated: 'warn', edited_away: 'warn', failed: 'bad' }

interface BindingsProps {
  /** Where they are listed: of a zone, of a template. */
  path: string
  /** What is shown of each: the zone, or the template. */
  by: 'zone' | 'template'
  templates: readonly TemplateView[]
  empty: ReactNode
}

/** Where templates were applied, how each stands since, and what can be done about it. */
export function Bindings({ path, by, templates, empty }: BindingsProps) {
  const { mayWrite } = usePerson()
  const [{ state }, set] = useAddress({ state: '' })
  const list = useList<BindingView>(path, { state })
  const [applying, setApplying] = useState<BindingView | null>(null)
  const [looking, setLooking] = useState<BindingView | null>(null)
  const [leaving, setLeaving] = useState<BindingView | null>(null)
  const nameOf = (id: string) => templates.find(one => one.id === id)?.name ?? id
  const columns: readonly Column<BindingView>[] = [
    {
      name: 'what',
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
    {
      name: 'host',
      title: 'At',
      width: '8rem',
      from: 'sm',
      render: one => <code className="font-mono text-[13px]">{one.host}</code>,
    },
    {
      name: 'state',
      title: 'State',
      width: '9rem',
      render: one => (
        <span title={one.error?.detail}>
          <Status state={one.state} mood={moods[one.state]} />
        </span>
      ),
    },
    { name: 'mode', title: 'Mode', width: '6rem', from: 'md', render: one => <Tag>{one.mode}</Tag> },
    {
      name: 'values',
      title: 'Values',
      from: 'lg',
      render: one =>
        Object.entries(one.variables)
          .map(([name, value]) => `${name} ${value}`)
          .join(', ') || '–',
    },
    { name: 'at', title: 'Applied', width: '9rem', from: 'md', render: one => <Ago at={one.applied_at} /> },
    {
      name: 'more',
      title: '',
      width: '4rem',
      right: true,
      render: one => (
        <Menu
          label={`More with ${by === 'zone' ? one.zone : nameOf(one.template_id)}`}
          className="inline-flex size-7 items-center justify-center rounded-md border border-line hover:bg-hover"
          items={[
            { label: 'What it put there', onSelect: () => setLooking(one) },
            mayWrite ? { label: 'Apply anew…', onSelect: () => setApplying(one) } : null,
            mayWrite ? '-' : null,
            mayWrite ? { label: 'Take off the zone…', bad: true, onSelect: () => setLeaving(one) } : null,
          ]}
        />
      ),
    },
  ]
  return (
    <>
      <Filters>
        <Choice
          label="State"
          value={state}
          onChange={value => set({ state: value })}
          choices={[['', 'All states'], ...Object.keys(moods).map(one => [one, wordsOf(one)] as const)]}
        />
      </Filters>
      <Table
        label="Bindings"
        columns={columns}
        list={list}
        idOf={one => one.id}
        empty={state === '' ? empty : <Empty icon={LayoutTemplate} title="None is like that" />}
      />
      <Dialog
        open={applying !== null}
        onClose={() => setApplying(null)}
        title={applying && `Apply ${nameOf(applying.template_id)} to ${applying.zone}`}
        description="The zone is brought to the newest version. What was edited by hand is as the template has it again."
        wide
      >
        {applying && <Again binding={applying} onEnd={() => setApplying(null)} />}
      </Dialog>
      <Dialog
        open={looking !== null}
        onClose={() => setLooking(null)}
        title={looking && `${nameOf(looking.template_id)} in ${looking.zone}`}
        wide
      >
        {looking && <BindingEdits id={looking.id} />}
      </Dialog>
      {leaving && <Unbind binding={leaving} name={nameOf(leaving.template_id)} onEnd={() => setLeaving(null)} />}
    </>
  )
}

function Again({ binding, onEnd }: { binding: BindingView; onEnd(): void }) {
  const template = useOne<TemplateView>(`/dns/templates/${binding.template_id}`)
  const detail = useOne<BindingDetail>(`/dns/template-bindings/${binding.id}`)
  if (template.error) return <Problem error={template.error} />
  if (!template.data || !detail.data) return <div className="h-40 animate-pulse rounded-md bg-hover" />
  return <ApplyForm template={template.data} binding={detail.data} onEnd={onEnd} />
}
