import { useState } from 'react'
import { inputLook } from '../../../parts/form'
import { Labelled } from './labelled'
import type { Draft } from './record-draft'

interface MembersFieldsProps {
  draft: Draft
  onDraft(changed: Partial<Draft>): void
  errorAt(member: string): string | null
}

/** What people say of records, and nobody is served: note, tags, lock. Of all records of the name and type. */
export function MembersFields({ draft, onDraft, errorAt }: MembersFieldsProps) {
  const [tags, setTags] = useState(draft.tags.join(', '))
  const tagError = errorAt('tags')
  return (
    <details open={draft.comment !== '' || draft.tags.length > 0 || draft.locked || undefined}>
      <summary className="w-fit text-[13px] text-muted hover:text-ink">Note, tags, lock</summary>
      <div className="mt-2 grid gap-3 sm:grid-cols-[1fr_1fr_auto]">
        <Labelled label="Note" error={errorAt('comment')}>
          {attributes => (
            <input
              {...attributes}
              value={draft.comment}
              maxLength={500}
              onChange={event => onDraft({ comment: event.target.value })}
              className={`h-9 ${inputLook}`}
            />
          )}
        </Labelled>
        <Labelled label="Tags" error={tagError}>
          {attributes => (
            <input
              {...attributes}
              value={tags}
              spellCheck={false}
              onChange={event => {
                setTags(event.target.value)
                onDraft({ tags: event.target.value.split(/[\s,]+/).filter(word => word !== '') })
              }}
              className={`h-9 ${inputLook}`}
            />
          )}
        </Labelled>
        <label className="flex h-9 items-center gap-2 self-start sm:mt-[1.6rem]">
          <input type="checkbox" checked={draft.locked} onChange={event => onDraft({ locked: event.target.checked })} />
          Locked
        </label>
      </div>
    </details>
  )
}
