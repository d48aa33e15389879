import { useState } from 'react'
import { wordsOf } from '../../../parts/form'
import { Disclosure } from '../../../parts/disclosure'
import { Checkbox, Input } from '../../../parts/input'
import { LabeledInput } from './labeled-input'
import type { Draft } from './record-draft'

interface MetadataFieldsProps {
  draft: Draft
  onDraft(changed: Partial<Draft>): void
  errorAt(field: string): string | null
}

/** Comment, tags, expiry, and lock, which apply to all records of the name and type. */
export function MetadataFields({ draft, onDraft, errorAt }: MetadataFieldsProps) {
  const [tags, setTags] = useState(draft.tags.join(', '))
  const tagError = errorAt('tags')
  return (
    <Disclosure
      open={draft.comment !== '' || draft.tags.length > 0 || draft.locked || draft.expires !== ''}
      summary="Comment, tags, expiry, lock"
      summaryClass="w-fit text-[13px] text-muted hover:text-ink"
    >
      <div className="mt-2 grid gap-3 sm:grid-cols-[1fr_1fr_auto_auto]">
        <LabeledInput label="Comment" error={errorAt('comment')}>
          {attributes => (
            <Input {...attributes} value={draft.comment} maxLength={500} onText={text => onDraft({ comment: text })} />
          )}
        </LabeledInput>
        <LabeledInput label="Tags" error={tagError}>
          {attributes => (
            <Input
              {...attributes}
              value={tags}
              spellCheck={false}
              onText={text => {
                setTags(text)
                onDraft({ tags: wordsOf(text) })
              }}
            />
          )}
        </LabeledInput>
        <LabeledInput label="Expires" error={errorAt('expires_at')}>
          {attributes => (
            <Input {...attributes} type="datetime-local" value={draft.expires} onText={text => onDraft({ expires: text })} />
          )}
        </LabeledInput>
        <Checkbox className="h-9 self-start sm:mt-[1.6rem]" checked={draft.locked} onCheck={locked => onDraft({ locked })}>
          Locked
        </Checkbox>
      </div>
      <p className="text-[13px] text-muted">
        These apply to all records with the same name and type. Locked records can’t be changed or deleted until you unlock them,
        except with this form. They are still deleted when they expire.
      </p>
    </Disclosure>
  )
}
