import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { MonitorSuggestionView, MonitorTypeView, MonitorView } from '../../features/monitors/shapes'
import { call as callApi, type Call } from '../client'
import { FieldFrame, Form, SelectField, TextField, useForm, type Values } from '../parts/form'
import { Input } from '../parts/input'
import { Card, Page } from '../parts/page'
import { toast } from '../parts/toast'
import { useList, useOne, useSend } from '../queries'
import { membersOf } from './monitors/columns'
import { MonitorFields, TagsField } from './monitors/monitor-fields'
import { fieldsFrom, monitorValues, optionValues } from './monitors/monitor-values'
import { selectedType, Suggestions, useSuggestions } from './monitors/suggestions'

interface Created {
  /** Of a bulk request. */
  results?: { body: MonitorView }[]
  id?: string
}

/** Creates a monitor from a target. Suggests type and name; everything else has a default. */
export default function NewMonitor() {
  const navigate = useNavigate()
  const { target = '' } = useSearch({ strict: false }) as { target?: string }
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const known = useRef<Known>({ suggestions: [], types: [], group: null })
  const send = useSend<Created>({ quiet: true, invalidates: ['/monitors'] })
  const create = async (call: Call) => {
    const created = await send.mutateAsync(call)
    const ids = created.id === undefined ? (created.results ?? []).map(one => one.body.id) : [created.id]
    const { group } = known.current
    // The monitor exists at this point. If adding it to the group fails, that can be retried on the page of the group.
    if (group) await callApi(groupUpdate(group, ids)).catch(toast.error)
    await navigate({ to: `/monitors/${ids[0]}` })
  }
  return (
    <Page
      parent="/monitors"
      description="Enter a target to see the types of monitors that fit it. The monitor is checked as soon as you create it."
    >
      <Card className="max-w-3xl">
        <Form
          initial={{ ...monitorValues(null, null), target, type: '', also: [], group: '' }}
          call={values => callOf(values, known.current)}
          send={create}
          onCancel={() => void navigate({ to: '/monitors' })}
          submitLabel="Create monitor"
        >
          <Fields types={types.data?.data ?? []} known={known} />
        </Form>
      </Card>
    </Page>
  )
}

/** What the form has loaded from the API by the time it is submitted. */
interface Known {
  suggestions: readonly MonitorSuggestionView[]
  types: readonly MonitorTypeView[]
  /** The group to add the monitor to. */
  group: MonitorView | null
}

/** Adds monitors to a group. */
const groupUpdate = (group: MonitorView, ids: readonly string[]): Call => ({
  method: 'PATCH',
  path: `/monitors/${group.id}`,
  body: { options: { members: [...membersOf(group), ...ids] } },
  ifMatch: group.version,
})

function Fields({ types, known }: { types: readonly MonitorTypeView[]; known: React.RefObject<Known> }) {
  const { values, set } = useForm()
  const suggestions = useSuggestions(values.target as string)
  const groups = useList<MonitorView>('/monitors', { type: 'group', sort: 'name' })
  known.current = { suggestions, types, group: groups.rows.find(one => one.id === values.group) ?? null }
  const type = types.find(one => one.type === selectedType(values, suggestions))
  // Each type has its own options.
  useEffect(() => {
    if (type) set(optionValues(type))
  }, [type])
  const suggested = suggestions.find(one => one.type === type?.type) ?? suggestions[0]
  return (
    <>
      <FieldFrame
        name="target"
        label="Target"
        hint={values.type === 'group' ? 'A group has members instead of a target.' : 'A URL, host:port, hostname, or IP address.'}
      >
        {attributes => (
          <Input
            {...attributes}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            disabled={values.type === 'group'}
            placeholder="https://www.example.com/"
            value={values.type === 'group' ? '' : String(values.target)}
            onText={text => set({ target: text, type: '' })}
            className="h-11 font-mono"
          />
        )}
      </FieldFrame>
      <Suggestions suggestions={suggestions} types={types} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField name="name" label="Name" placeholder={suggested?.name ?? ''} />
        <TagsField />
      </div>
      {groups.rows.length > 0 && (
        <SelectField
          name="group"
          label="Group"
          choices={[['', 'No group'], ...groups.rows.map(one => [one.id, one.name] as const)]}
        />
      )}
      {type && <MonitorFields key={type.type} type={type} />}
    </>
  )
}

function callOf(values: Values, { suggestions, types }: Known): Call {
  const text = (values.target as string).trim()
  const selected = selectedType(values, suggestions)
  const type = types.find(one => one.type === selected) ?? null
  // The form may be submitted before the fields of a newly suggested type have their values.
  const fields = fieldsFrom(type ? { ...optionValues(type), ...values } : values, type)
  const first: Values = {
    ...(selected !== '' && { type: selected }),
    ...(selected !== 'group' && { target: suggestions.find(one => one.type === selected)?.target ?? text }),
    ...fields,
  }
  const also = suggestions.filter(one => (values.also as string[]).includes(one.type))
  if (also.length === 0) return { method: 'POST', path: '/monitors', body: first }
  const bodies = [
    first,
    ...also.map(one => ({
      type: one.type,
      target: one.target,
      name: `${(values.name as string) || one.name} (${one.title})`,
      ...(fields.tags !== undefined && { tags: fields.tags }),
      ...(fields.channel_ids !== undefined && { channel_ids: fields.channel_ids }),
    })),
  ]
  return { method: 'POST', path: '/monitors/bulk', body: { operations: bodies.map(body => ({ op: 'create', body })) } }
}
