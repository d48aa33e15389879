import type { DnsRecordTypeView } from '../../../../features/dns/record-shapes'
import { inputLook } from '../../../parts/form'
import { Labelled } from './labelled'
import { likes, partsOf, type Draft } from './record-draft'

interface ValueFieldsProps {
  draft: Draft
  types: readonly DnsRecordTypeView[]
  error: string | null
  onDraft(changed: Partial<Draft>): void
}

/** The value of a record: an input for each of its parts where the type has several, else one for the whole of it. */
export function ValueFields({ draft, types, error, onDraft }: ValueFieldsProps) {
  const fields = draft.parts && partsOf(types, draft.type)
  if (!fields) {
    const Input = draft.content.length > 60 ? 'textarea' : 'input'
    return (
      <Labelled label="Value" error={error} hint={draft.type === 'TXT' ? 'The text itself; quotation marks need no care.' : ' '}>
        {attributes => (
          <Input
            {...attributes}
            {...(Input === 'textarea' && { rows: 3 })}
            value={draft.content}
            placeholder={likes[draft.type] ?? 'As in a zone file'}
            spellCheck={false}
            autoComplete="off"
            onChange={event => onDraft({ content: event.target.value })}
            className={`font-mono text-[13px] ${Input === 'textarea' ? 'block py-1.5' : 'h-9'} ${inputLook}`}
          />
        )}
      </Labelled>
    )
  }
  // The API names the part that is wrong with the first word of what it says.
  const wrong = error?.split(' ')[0] ?? ''
  return (
    <div role="group" aria-label="Value" className="flex flex-wrap gap-3">
      {fields.map(({ name, form }, at) => {
        const isWrong = error !== null && (wrong === name || (at === 0 && !fields.some(one => one.name === wrong)))
        return (
          <div key={name} className={form === 'integer' ? 'w-24' : 'min-w-32 grow basis-32'}>
            <Labelled label={labelOf(name)} error={isWrong ? error : null}>
              {attributes => (
                <input
                  {...attributes}
                  value={draft.parts![name] ?? ''}
                  inputMode={form === 'integer' ? 'numeric' : 'text'}
                  spellCheck={false}
                  autoComplete="off"
                  onChange={event => onDraft({ parts: { ...draft.parts!, [name]: event.target.value } })}
                  className={`h-9 font-mono text-[13px] ${inputLook}`}
                />
              )}
            </Labelled>
          </div>
        )
      })}
    </div>
  )
}

const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
