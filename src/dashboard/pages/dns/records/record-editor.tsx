import { useState, type FormEvent } from 'react'
import type { DnsRecordCheckResult, DnsRecordTypeView, DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { ApiError, type Call } from '../../../client'
import { ApiCall } from '../../../parts/api-call'
import { Button } from '../../../parts/button'
import { withoutReference } from '../../../parts/field-errors'
import { Input } from '../../../parts/input'
import { useDryRun } from '../../../queries'
import { useZoneChange } from '../zone-change'
import { LabeledInput } from './labeled-input'
import { MetadataFields } from './metadata-fields'
import { formatTtl, SourceLink } from './record-columns'
import { bodyOf, hasValue, patchOf, relativeName, withType, type Draft } from './record-draft'
import { TypeSelect } from './type-select'
import { ValueFields } from './value-fields'

interface RecordEditorProps {
  zone: ZoneView
  types: readonly DnsRecordTypeView[]
  /** The record to edit; null creates a new one. */
  record: DnsRecordView | null
  before: Draft
  draft: Draft
  onDraft(draft: Draft): void
  onClose(): void
  /** Called after saving or deleting. */
  onDone(): void
}

/** Form for a record. Validates against the API while typing and shows the result. Enter saves, Escape closes. */
export function RecordEditor({ zone, types, record, before, draft, onDraft, onClose, onDone }: RecordEditorProps) {
  const [refused, setRefused] = useState<ApiError | null>(null)
  const { change, isPending } = useZoneChange(zone)
  const path = `/dns/zones/${zone.id}/records`
  // The source sets the values, and deletes the records.
  const sourceId = record?.dynamic_ip_id ?? null
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before)
  const named = draft.name === before.name ? draft : { ...draft, name: relativeName(draft.name, zone) }
  const body = bodyOf(named, types)
  const toCheck = record
    ? { ...body, record_id: record.id, ...(draft.locked || before.locked ? { locked: draft.locked } : {}) }
    : body
  const checked = useDryRun<DnsRecordCheckResult>(
    isChanged && hasValue(draft) ? { method: 'POST', path: `${path}/check`, body: toCheck } : null,
  )
  const problem = refused ?? checked.error
  const errorAt = (...fields: string[]) => {
    const error = problem?.errors.find(one => fields.some(field => one.pointer === `#/${field}`))
    return error ? withoutReference(error.detail) : null
  }
  const known = ['name', 'type', 'ttl', 'content', 'fields', 'comment', 'tags', 'locked', 'expires_at']
  const others =
    problem &&
    (problem.errors.length === 0
      ? [problem.message]
      : problem.errors.filter(one => !known.includes(one.pointer.slice(2))).map(one => withoutReference(one.detail)))
  const request = (): Call =>
    record
      ? { method: 'PATCH', path: `/dns/records/${record.id}`, body: patchOf(named, before, types), ifMatch: record.version }
      : { method: 'POST', path, body }
  const set = (changed: Partial<Draft>) => {
    setRefused(null)
    onDraft({ ...draft, ...changed })
  }
  const send = async (call: Call, done: string, rrsets: readonly { name: string; type: string }[]) => {
    try {
      await change({ call, done, rrsets })
      onDone()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setRefused(error)
    }
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    const name = named.name.trim() || '@'
    const done = record ? `Record ${record.name} ${record.type} saved` : `Record ${name} ${draft.type} added`
    const rrsets = [{ name, type: draft.type }, ...(record ? [{ name: record.name, type: record.type }] : [])]
    void send(request(), done, rrsets)
  }
  const remove = ({ id, name, type, version }: DnsRecordView) => {
    const call = { method: 'DELETE', path: `/dns/records/${id}`, ifMatch: version } as const
    void send(call, `Record ${name} ${type} deleted`, [{ name, type }])
  }
  return (
    <form
      aria-label={record ? `Edit ${record.type} record ${record.name}` : 'Add record'}
      onSubmit={save}
      onKeyDown={event => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose()
      }}
      noValidate
      className="flex flex-col gap-3 bg-canvas p-3"
    >
      <div className="grid grid-cols-[1fr_6.5rem] gap-x-3 gap-y-1 sm:gap-y-3 sm:grid-cols-[minmax(8rem,14rem)_7rem_1fr] lg:grid-cols-[minmax(8rem,16rem)_8rem_1fr_7rem]">
        <LabeledInput label="Name" error={errorAt('name')} hint={`.${zone.unicode_name}`}>
          {attributes => (
            <Input
              {...attributes}
              autoFocus={sourceId === null}
              disabled={sourceId !== null}
              value={draft.name}
              placeholder="@"
              autoComplete="off"
              onText={text => set({ name: text })}
              onBlur={() => named.name !== draft.name && set({ name: named.name })}
              mono
            />
          )}
        </LabeledInput>
        <LabeledInput label="Type" error={errorAt('type')}>
          {attributes => (
            <TypeSelect
              attributes={attributes}
              types={types}
              value={draft.type}
              disabled={record !== null}
              onChange={type => onDraft(withType(draft, type, types))}
            />
          )}
        </LabeledInput>
        <div className="col-span-2 min-w-0 sm:col-span-3 lg:col-span-1 lg:col-start-3 lg:row-start-1">
          <ValueFields
            draft={draft}
            types={types}
            error={errorAt('content', 'fields')}
            onDraft={set}
            {...(sourceId !== null && { fixed: <SourceLink id={sourceId} /> })}
          />
        </div>
        <LabeledInput label="TTL" error={errorAt('ttl')} hint={checked.result ? formatTtl(checked.result.ttl) : 'e.g. 300 or 1h'}>
          {attributes => (
            <Input
              {...attributes}
              value={draft.ttl}
              placeholder={String(zone.default_ttl)}
              autoComplete="off"
              onText={text => set({ ttl: text })}
            />
          )}
        </LabeledInput>
      </div>
      <MetadataFields draft={draft} onDraft={set} errorAt={errorAt} />
      <div className="flex flex-wrap items-center gap-2">
        <ApiCall call={request} />
        <p role="status" className="min-h-5 min-w-0 grow basis-60 text-[13px] wrap-anywhere">
          {others && others.length > 0 ? (
            <span className="text-bad">{others.join(' ')}</span>
          ) : checked.result ? (
            <span className="font-mono text-muted">
              {checked.result.fqdn}. {checked.result.ttl} {checked.result.type} {checked.result.content}
            </span>
          ) : null}
        </p>
        <div className="ml-auto flex gap-2">
          {record && sourceId === null && (
            <Button kind="danger" onClick={() => remove(record)} disabled={isPending}>
              Delete
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isPending || (record !== null && !isChanged)}>
            {record ? 'Save changes' : 'Add record'}
          </Button>
        </div>
      </div>
    </form>
  )
}
