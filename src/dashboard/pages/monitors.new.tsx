import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { MonitorSuggestionView, MonitorTypeView } from '../../features/monitors/definition/shapes'
import type { MonitorView } from '../../features/monitors/shapes'
import { ApiError, call as callApi, type Call } from '../client'
import { FieldFrame, Form, SelectField, useForm, type Values } from '../parts/form'
import { Input } from '../parts/input'
import { Card, Page } from '../parts/page'
import { toast } from '../parts/toast'
import { useList, useOne, useSend } from '../queries'
import { membersOf } from './monitors/columns'
import { ServerField } from './monitors/server-field'
import { MonitorFields, NameFields } from './monitors/monitor-fields'
import { fieldsFrom, monitorValues, optionValues } from './monitors/monitor-values'
import {
  AlsoMonitor,
  CertificateError,
  ignoringCertificate,
  selectedType,
  suggestionsFor,
  TypeField,
  useSuggestions,
} from './monitors/suggestions'

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
  const known = useRef<Known>({ suggestions: [], isCurrent: true, types: [], group: null })
  const send = useSend<Created>({ quiet: true, invalidates: ['/monitors'] })
  const create = async (call: Call) => {
    const created = await send.mutateAsync(call).catch((error: unknown) => Promise.reject(ofFirst(error)))
    const ids = created.id === undefined ? (created.results ?? []).map(one => one.body.id) : [created.id]
    const { group } = known.current
    // The monitor exists at this point. If adding it to the group fails, that can be retried on the page of the group.
    if (group) await callApi(groupUpdate(group, ids)).catch(toast.error)
    await navigate({ to: `/monitors/${ids[0]}` })
  }
  const prepare = async (values: Values) => {
    if (!known.current.isCurrent && values.type === '') known.current.suggestions = await suggestionsFor(String(values.target))
  }
  return (
    <Page parent="/monitors" description="The monitor is checked as soon as you create it.">
      <Card className="max-w-5xl">
        <Form
          initial={{ ...monitorValues(null, null), target, type: target.startsWith('srv_') ? 'server' : '', also: [], group: '' }}
          call={values => callOf(values, known.current)}
          prepare={prepare}
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
  /** Whether they are those of the target. */
  isCurrent: boolean
  types: readonly MonitorTypeView[]
  /** The group to add the monitor to. */
  group: MonitorView | null
}

/** The error of a bulk request, with the errors of its first operation at the fields of the form. */
function ofFirst(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error
  const { status, code, message, errors, requestId, body } = error
  const atFields = errors.map(one => ({ ...one, pointer: one.pointer.replace(/^#\/operations\/0\/body/, '#') }))
  return new ApiError(status, code, message, atFields, requestId, body)
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
  const { suggestions, isAsking, isCurrent } = useSuggestions(values.target as string)
  const groups = useList<MonitorView>('/monitors', { type: 'group', sort: 'name' })
  known.current = { suggestions, isCurrent, types, group: groups.rows.find(one => one.id === values.group) ?? null }
  const type = types.find(one => one.type === selectedType(values, suggestions))
  // Each type has its own options.
  useEffect(() => {
    if (type) set(optionValues(type))
  }, [type])
  const suggested = suggestions.find(one => one.type === type?.type) ?? suggestions[0]
  const isGroup = values.type === 'group'
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_14rem]">
        {values.type === 'server' ? (
          <ServerField />
        ) : (
          <FieldFrame
            name="target"
            label="Target"
            hint={
              isGroup
                ? 'A group has members instead of a target.'
                : isAsking
                  ? 'Checking what answers at this port…'
                  : 'A URL, host:port, hostname, or IP address.'
            }
          >
            {attributes => (
              <Input
                {...attributes}
                autoFocus
                autoComplete="off"
                spellCheck={false}
                disabled={isGroup}
                placeholder="e.g. https://www.example.com/"
                value={isGroup ? '' : String(values.target)}
                onText={text => set({ target: text, type: '' })}
                className="h-9 font-mono"
              />
            )}
          </FieldFrame>
        )}
        <TypeField suggestions={suggestions} types={types} />
      </div>
      <CertificateError
        suggestion={suggested}
        isIgnored={values['options.verify_tls'] === false}
        onIgnore={isIgnored => set({ 'options.verify_tls': !isIgnored })}
      />
      <AlsoMonitor suggestions={suggestions} />
      <NameFields type={type ?? null} placeholder={suggested?.name ?? ''} />
      {type && (
        <MonitorFields key={type.type} type={type}>
          {groups.rows.length > 0 && (
            <SelectField
              name="group"
              label="Group"
              choices={[['', 'No group'], ...groups.rows.map(one => [one.id, one.name] as const)]}
            />
          )}
        </MonitorFields>
      )}
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
      ...(values['options.verify_tls'] === false && ignoringCertificate(one)),
      name: `${(values.name as string) || one.name}: ${one.title}`,
      ...(fields.tags !== undefined && { tags: fields.tags }),
      ...(fields.channel_ids !== undefined && { channel_ids: fields.channel_ids }),
    })),
  ]
  return { method: 'POST', path: '/monitors/bulk', body: { operations: bodies.map(body => ({ op: 'create', body })) } }
}
