import { useState, type FormEvent } from 'react'
import type { DnsRecordTypeView, DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { Refused, type Call } from '../../../client'
import { ApiCall } from '../../../parts/api-calls'
import { Button } from '../../../parts/button'
import { inputLook } from '../../../parts/form'
import { useZoneChange } from '../zone-change'
import { Labelled } from './labelled'
import { MembersFields } from './members-fields'
import { bodyOf, hasValue, patchOf, withType, type Draft } from './record-draft'
import { TypeSelect } from './type-select'
import { useCheck } from './use-check'
import { ValueFields } from './value-fields'

interface RecordEditorProps {
  zone: ZoneView
  types: readonly DnsRecordTypeView[]
  /** The record that is edited, and how it was; null makes a new one. */
  record: DnsRecordView | null
  before: Draft
  draft: Draft
  onDraft(draft: Draft): void
  onClose(): void
  /** It was saved. */
  onDone(): void
}

/**
 * A record as it is typed. The hub says what is wrong with it while it is, and what would become of it. Enter saves, Escape leaves.
 */
export function RecordEditor({ zone, types, record, before, draft, onDraft, onClose, onDone }: RecordEditorProps) {
  const [refused, setRefused] = useState<Refused | null>(null)
  const { change, isPending } = useZoneChange(zone)
  const path = `/dns/zones/${zone.id}/records`
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before)
  const body = bodyOf(draft, types)
  const tried = record
    ? { ...body, record_id: record.id, ...(draft.locked || before.locked ? { locked: draft.locked } : {}) }
    : body
  const checked = useCheck(zone.id, isChanged && hasValue(draft) ? tried : null)
  const problem = refused ?? checked.refused
  const errorAt = (...members: string[]) =>
    problem?.errors.find(one => members.some(member => one.pointer === `#/${member}`))?.detail ?? null
  const known = ['name', 'type', 'ttl', 'content', 'fields', 'comment', 'tags', 'locked']
  const others =
    problem &&
    (problem.errors.length === 0
      ? [problem.message]
      : problem.errors.filter(one => !known.includes(one.pointer.slice(2))).map(one => one.detail))
  const asked = (): Call =>
    record
      ? { method: 'PATCH', path: `/dns/records/${record.id}`, body: patchOf(draft, before, types), ifMatch: record.version }
      : { method: 'POST', path, body }
  const set = (changed: Partial<Draft>) => {
    setRefused(null)
    onDraft({ ...draft, ...changed })
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const name = draft.name.trim() || '@'
    const done = record ? `Record ${record.name} ${record.type} saved` : `Record ${name} ${draft.type} added`
    const rrsets = [{ name, type: draft.type }, ...(record ? [{ name: record.name, type: record.type }] : [])]
    try {
      await change({ call: asked(), done, rrsets })
      onDone()
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      setRefused(error)
    }
  }
  const remove = async ({ id, name, type, version }: DnsRecordView) => {
    const call: Call = { method: 'DELETE', path: `/dns/records/${id}`, ifMatch: version }
    try {
      await change({ call, done: `Record ${name} ${type} deleted`, rrsets: [{ name, type }] })
      onDone()
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      setRefused(error)
    }
  }
  return (
    <form
      aria-label={record ? `Edit ${record.type} of ${record.name}` : 'New record'}
      onSubmit={event => void save(event)}
      onKeyDown={event => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onClose()
      }}
      noValidate
      className="flex flex-col gap-3 bg-canvas p-3"
    >
      <div className="grid grid-cols-[1fr_6.5rem] gap-x-3 gap-y-1 sm:gap-y-3 sm:grid-cols-[minmax(8rem,14rem)_7rem_1fr] lg:grid-cols-[minmax(8rem,16rem)_8rem_1fr_7rem]">
        <Labelled label="Name" error={errorAt('name')} hint={`.${zone.unicode_name}`}>
          {attributes => (
            <input
              {...attributes}
              autoFocus
              value={draft.name}
              placeholder="@"
              spellCheck={false}
              autoComplete="off"
              onChange={event => set({ name: event.target.value })}
              className={`h-9 font-mono text-[13px] ${inputLook}`}
            />
          )}
        </Labelled>
        <Labelled label="Type" error={errorAt('type')}>
          {attributes => (
            <TypeSelect
              attributes={attributes}
              types={types}
              value={draft.type}
              disabled={record !== null}
              onChange={type => onDraft(withType(draft, type, types))}
            />
          )}
        </Labelled>
        <div className="col-span-2 min-w-0 sm:col-span-3 lg:col-span-1 lg:col-start-3 lg:row-start-1">
          <ValueFields draft={draft} types={types} error={errorAt('content', 'fields')} onDraft={set} />
        </div>
        <Labelled label="TTL" error={errorAt('ttl')} hint={checked.would ? `${checked.would.ttl} s` : '300, 1h, 1d'}>
          {attributes => (
            <input
              {...attributes}
              value={draft.ttl}
              placeholder={String(zone.default_ttl)}
              autoComplete="off"
              onChange={event => set({ ttl: event.target.value })}
              className={`h-9 ${inputLook}`}
            />
          )}
        </Labelled>
      </div>
      <MembersFields draft={draft} onDraft={set} errorAt={errorAt} />
      <div className="flex flex-wrap items-center gap-2">
        <p role="status" className="min-h-5 min-w-0 grow basis-60 text-[13px] wrap-anywhere">
          {others && others.length > 0 ? (
            <span className="text-bad">{others.join(' ')}</span>
          ) : checked.would ? (
            <span className="font-mono text-muted">
              {checked.would.fqdn}. {checked.would.ttl} {checked.would.type} {checked.would.content}
            </span>
          ) : null}
        </p>
        <ApiCall call={asked} />
        {record && (
          <Button kind="bad" onClick={() => void remove(record)} disabled={isPending}>
            Delete
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" type="submit" disabled={isPending || (record !== null && !isChanged)}>
          {record ? 'Save' : 'Add record'}
        </Button>
      </div>
    </form>
  )
}
