import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { PlanView } from '../../../access/workspace-shapes'
import { Button } from '../../parts/button'
import { Confirm, Dialog } from '../../parts/dialog'
import { CheckField, Columns, Form, NumberField, SelectField, TextField, type Values } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { wordsOf, Tag } from '../../parts/status'
import { Table, wholeList, type Column } from '../../parts/table'
import { useOne, useSend } from '../../queries'

type Asked = { what: 'edit' | 'delete'; plan: PlanView } | { what: 'new' } | null

/** What workspaces may use, by plans. */
export function Plans() {
  const [asked, setAsked] = useState<Asked>(null)
  const found = useOne<{ data: PlanView[] }>('/plans')
  const remove = useSend({ done: 'Plan deleted', stale: ['/plans'], onDone: () => setAsked(null) })
  const plans = found.data?.data ?? []
  const close = () => setAsked(null)
  const columns: readonly Column<PlanView>[] = [
    {
      name: 'title',
      title: 'Plan',
      render: one => (
        <>
          <span className="font-medium">{one.title}</span> {one.default && <Tag>default</Tag>}
        </>
      ),
    },
    { name: 'id', title: 'Id', from: 'sm', render: one => <code className="font-mono text-[13px]">{one.id}</code> },
    { name: 'api', title: 'API', width: '7rem', render: one => one.api_access },
    { name: 'monitors', title: 'Monitors', width: '8rem', from: 'md', right: true, render: one => figure(one.limits.monitors) },
    { name: 'zones', title: 'DNS zones', width: '8rem', from: 'md', right: true, render: one => figure(one.limits.dns_zones) },
    {
      name: 'more',
      title: '',
      width: '4rem',
      right: true,
      render: one => (
        <Menu
          label={`More for ${one.title}`}
          items={[
            { label: 'Edit', onSelect: () => setAsked({ what: 'edit', plan: one }) },
            { label: 'Delete', bad: true, onSelect: () => setAsked({ what: 'delete', plan: one }) },
          ]}
        />
      ),
    },
  ]
  return (
    <>
      <div className="mb-3 flex justify-end">
        <Button kind="main" data-new icon={<Plus className="size-4" aria-hidden />} onClick={() => setAsked({ what: 'new' })}>
          New plan
        </Button>
      </div>
      <Table label="Plans" columns={columns} list={wholeList(plans, found.isPending)} idOf={one => one.id} empty={null} />
      <Dialog open={asked?.what === 'new'} onClose={close} title="New plan" wide>
        {plans[0] && <PlanForm names={Object.keys(plans[0].limits)} onClose={close} />}
      </Dialog>
      <Dialog open={asked?.what === 'edit'} onClose={close} title="Edit the plan" wide>
        {asked?.what === 'edit' && <PlanForm plan={asked.plan} names={Object.keys(asked.plan.limits)} onClose={close} />}
      </Dialog>
      <Confirm
        open={asked?.what === 'delete'}
        onClose={close}
        title="Delete the plan?"
        action="Delete plan"
        pending={remove.isPending}
        onConfirm={() => asked?.what === 'delete' && remove.mutate({ method: 'DELETE', path: `/plans/${asked.plan.id}` })}
      >
        A plan that workspaces have is not deleted.
      </Confirm>
    </>
  )
}

const figure = (limit: number | null) => (limit === null ? 'no limit' : limit.toLocaleString())

function PlanForm({ plan, names, onClose }: { plan?: PlanView; names: readonly string[]; onClose(): void }) {
  const send = useSend({ quiet: true, done: 'Plan saved', stale: ['/plans', '/limits'], onDone: onClose })
  const initial: Values = {
    id: '',
    title: plan?.title ?? '',
    api_access: plan?.api_access ?? 'full',
    default: plan?.default ?? false,
    ...Object.fromEntries(names.map(name => [`limits.${name}`, plan?.limits[name as keyof PlanView['limits']] ?? null])),
  }
  return (
    <Form
      initial={initial}
      call={values => ({
        method: plan ? 'PATCH' : 'POST',
        path: plan ? `/plans/${plan.id}` : '/plans',
        ...(plan && { ifMatch: plan.version }),
        body: {
          ...(!plan && { id: values.id }),
          title: values.title,
          api_access: values.api_access,
          ...((values.default !== plan?.default || !plan) && { default: values.default }),
          limits: Object.fromEntries(names.map(name => [name, values[`limits.${name}`]])),
        },
      })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action="Save"
    >
      {!plan && (
        <TextField name="id" label="Id" mono hint="Lower-case letters, digits, hyphens and underscores. It stays." autoFocus />
      )}
      <Columns>
        <TextField name="title" label="Name" />
        <SelectField
          name="api_access"
          label="API"
          choices={[
            ['none', 'No access'],
            ['read', 'Reading'],
            ['full', 'Reading and writing'],
          ]}
        />
      </Columns>
      <CheckField name="default" label="New workspaces get it" />
      <fieldset>
        <legend className="mb-2 font-semibold">Limits</legend>
        <p className="mb-3 text-muted">Empty is no limit.</p>
        <Columns>
          {names.map(name => (
            <NumberField key={name} name={`limits.${name}`} label={wordsOf(name)} min={0} />
          ))}
        </Columns>
      </fieldset>
    </Form>
  )
}
