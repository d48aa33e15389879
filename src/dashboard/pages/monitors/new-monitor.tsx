import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { MonitorProposalView, MonitorTypeView, MonitorView } from '../../../features/monitors/shapes'
import { call, type Call } from '../../client'
import { FieldFrame, Form, inputLook, SelectField, TextField, useForm, type Values } from '../../parts/form'
import { Card, Page } from '../../parts/page'
import { toast } from '../../parts/toast'
import { useList, useOne, useSend } from '../../queries'
import { membersOf } from './columns'
import { MonitorFields, TagsField } from './monitor-fields'
import { membersFrom, monitorValues, optionValues } from './monitor-values'
import { chosenOf, Proposals, useProposals } from './proposals'

interface Made {
  /** Of a bulk. */
  results?: { body: MonitorView }[]
  id?: string
}

/** Makes a monitor of something that is pasted: its type and name are proposed, and everything else may stay as it is. */
export default function NewMonitor() {
  const navigate = useNavigate()
  const { target = '' } = useSearch({ strict: false }) as { target?: string }
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const known = useRef<Known>({ proposals: [], types: [], group: null })
  const send = useSend<Made>({ quiet: true, stale: ['/monitors'] })
  const make = async (asked: Call) => {
    const made = await send.mutateAsync(asked)
    const ids = made.id === undefined ? (made.results ?? []).map(one => one.body.id) : [made.id]
    const { group } = known.current
    // It is made by now: that it did not get into its group is told, and changed on the page of the group.
    if (group) await call(joined(group, ids)).catch(toast.failed)
    await navigate({ to: `/monitors/${ids[0]}` })
  }
  return (
    <Page
      title="New monitor"
      up={{ to: '/monitors', label: 'Monitors' }}
      lead="An address is enough. What fits it is proposed, and it is checked at once."
    >
      <Card className="max-w-3xl">
        <Form
          initial={{ ...monitorValues(null, null), target, type: '', also: [], group: '' }}
          call={values => callOf(values, known.current)}
          send={make}
          pending={send.isPending}
          onCancel={() => void navigate({ to: '/monitors' })}
          action="Watch it"
        >
          <Fields types={types.data?.data ?? []} known={known} />
        </Form>
      </Card>
    </Page>
  )
}

/** What the fields have learned from the API by the time the form is sent. */
interface Known {
  proposals: readonly MonitorProposalView[]
  types: readonly MonitorTypeView[]
  /** The group that it is to be in. */
  group: MonitorView | null
}

/** Adds monitors to a group. */
const joined = (group: MonitorView, ids: readonly string[]): Call => ({
  method: 'PATCH',
  path: `/monitors/${group.id}`,
  body: { options: { members: [...membersOf(group), ...ids] } },
  ifMatch: group.version,
})

function Fields({ types, known }: { types: readonly MonitorTypeView[]; known: React.RefObject<Known> }) {
  const { values, set } = useForm()
  const proposals = useProposals(values.target as string)
  const groups = useList<MonitorView>('/monitors', { type: 'group', sort: 'name' })
  known.current = { proposals, types, group: groups.rows.find(one => one.id === values.group) ?? null }
  const type = types.find(one => one.type === chosenOf(values, proposals))
  // Options are asked for by their type: those of another one have other names.
  useEffect(() => {
    if (type) set(optionValues(type))
  }, [type])
  const proposed = proposals.find(one => one.type === type?.type) ?? proposals[0]
  return (
    <>
      <FieldFrame
        name="target"
        label="What to watch"
        hint={
          values.type === 'group'
            ? 'A group has members in place of a target.'
            : 'A URL, a host with a port, a name or an address.'
        }
      >
        {attributes => (
          <input
            {...attributes}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            disabled={values.type === 'group'}
            placeholder="https://www.example.com/"
            value={values.type === 'group' ? '' : String(values.target)}
            onChange={event => set({ target: event.target.value, type: '' })}
            className={`h-11 font-mono ${inputLook}`}
          />
        )}
      </FieldFrame>
      <Proposals proposals={proposals} types={types} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="name" label="Name" placeholder={proposed?.name ?? ''} />
        <TagsField />
      </div>
      {groups.rows.length > 0 && (
        <SelectField
          name="group"
          label="Group"
          choices={[['', 'In no group'], ...groups.rows.map(one => [one.id, one.name] as const)]}
        />
      )}
      {type && <MonitorFields key={type.type} type={type} />}
    </>
  )
}

function callOf(values: Values, { proposals, types }: Known): Call {
  const text = (values.target as string).trim()
  const chosen = chosenOf(values, proposals)
  const type = types.find(one => one.type === chosen) ?? null
  // Whoever is quick sends the form before the fields of the type that was just proposed have their values.
  const members = membersFrom(type ? { ...optionValues(type), ...values } : values, type)
  const first: Values = {
    ...(chosen !== '' && { type: chosen }),
    ...(chosen !== 'group' && { target: proposals.find(one => one.type === chosen)?.target ?? text }),
    ...members,
  }
  const also = proposals.filter(one => (values.also as string[]).includes(one.type))
  if (also.length === 0) return { method: 'POST', path: '/monitors', body: first }
  const bodies = [
    first,
    ...also.map(one => ({
      type: one.type,
      target: one.target,
      name: `${(values.name as string) || one.name} (${one.title})`,
      ...(members.tags !== undefined && { tags: members.tags }),
      ...(members.channel_ids !== undefined && { channel_ids: members.channel_ids }),
    })),
  ]
  return { method: 'POST', path: '/monitors/bulk', body: { operations: bodies.map(body => ({ op: 'create', body })) } }
}
