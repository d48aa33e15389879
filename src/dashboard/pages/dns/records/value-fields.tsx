import type { ReactNode } from 'react'
import type { DnsRecordTypeView } from '../../../../features/dns/records/shapes'
import { Input, Textarea } from '../../../parts/input'
import { capitalize } from '../../../parts/status'
import { LabeledInput } from './labeled-input'
import { exampleValues, editableFields, type Draft } from './record-draft'

interface ValueFieldsProps {
  draft: Draft
  types: readonly DnsRecordTypeView[]
  error: string | null
  /** Why it can’t be changed here, if it can’t. */
  fixed?: ReactNode
  onDraft(changed: Partial<Draft>): void
}

/** The value of a record: one input per field, or a single text input. */
export function ValueFields({ draft, types, error, fixed, onDraft }: ValueFieldsProps) {
  const fields = draft.fields && editableFields(types, draft.type)
  if (!fields) {
    const Control = draft.content.length > 60 ? Textarea : Input
    return (
      <LabeledInput
        label="Value"
        error={error}
        hint={fixed ?? (draft.type === 'TXT' ? 'Plain text, without quotation marks.' : ' ')}
      >
        {attributes => (
          <Control
            {...attributes}
            mono
            disabled={fixed !== undefined}
            value={draft.content}
            placeholder={exampleValues[draft.type] ?? 'Value in zone file format'}
            autoComplete="off"
            onText={content => onDraft({ content })}
          />
        )}
      </LabeledInput>
    )
  }
  // Error messages about a field start with its name.
  const wrongField = error?.split(' ')[0] ?? ''
  return (
    <div role="group" aria-label="Value" className="flex flex-wrap gap-3">
      {fields.map(({ name, type }, at) => {
        const isWrong = error !== null && (wrongField === name || (at === 0 && !fields.some(one => one.name === wrongField)))
        return (
          <div key={name} className={type === 'integer' ? 'w-24' : 'min-w-32 grow basis-32'}>
            <LabeledInput label={capitalize(name.replaceAll('_', ' '))} error={isWrong ? error : null}>
              {attributes => (
                <Input
                  {...attributes}
                  value={draft.fields![name] ?? ''}
                  inputMode={type === 'integer' ? 'numeric' : 'text'}
                  autoComplete="off"
                  onText={text => onDraft({ fields: { ...draft.fields!, [name]: text } })}
                  mono
                />
              )}
            </LabeledInput>
          </div>
        )
      })}
    </div>
  )
}
