import { useId, useState, type ReactNode } from 'react'
import { Disclosure } from './disclosure'
import { GroupContext, useRegistry } from './form'
import { lowerFirst } from './labels'

/** The settings that most people leave as they are, in groups. Nothing if there are none. */
export const Advanced = ({ children }: { children: ReactNode }) => {
  const id = useId()
  return (
    <section aria-labelledby={id} className="hidden has-[details]:block">
      <h3 id={id} className="mb-1 font-medium">
        Advanced
      </h3>
      <div className="divide-y divide-line rounded-md border border-line">{children}</div>
    </section>
  )
}

/** Whether the label of a field mostly repeats the label of its group: “Authentication type” in “Authentication”. */
const repeats = (field: string, group: string): boolean => {
  const words = new Set(group.toLowerCase().split(' '))
  words.delete('and')
  return field
    .toLowerCase()
    .split(' ')
    .some(word => words.has(word))
}

interface GroupProps {
  label: string
  /** Labels of what is in it, if they aren’t those of its fields. */
  contents?: readonly string[]
  children: ReactNode
}

/**
 * A group of advanced settings, which names those in it and counts those that are set. Collapsed, unless one of its fields is set or has
 * an error.
 */
export function Group({ label, contents, children }: GroupProps) {
  const { fields, errorsAt, isChanged } = useRegistry()
  const id = useId()
  const own = fields.filter(one => one.group === id)
  const changed = own.filter(isChanged).length
  const hasError = own.some(one => errorsAt(one.name) !== null)
  const [isOpened, setOpened] = useState<boolean | null>(null)
  const [hadError, setHadError] = useState(false)
  if (hasError !== hadError) {
    setHadError(hasError)
    // Stays open after the error is corrected.
    if (hasError) setOpened(true)
  }
  const isOpen = isOpened ?? changed > 0
  return (
    <Disclosure
      isOpen={isOpen}
      onOpen={setOpened}
      summaryClass="min-h-10 gap-2 px-3 hover:bg-hover"
      summary={
        <>
          <span className="font-medium sm:w-52 sm:shrink-0">{label}</span>
          <span className="min-w-0 grow py-1 text-[13px] text-muted group-open/disclosure:invisible max-sm:hidden" aria-hidden>
            {(contents ?? own.map(one => one.label))
              .filter(one => !repeats(one, label))
              .map((one, at) => (at === 0 ? one : lowerFirst(one)))
              .join(', ')}
          </span>
          {changed > 0 && (
            <span className="ml-auto rounded-full bg-accent-soft px-2 text-[13px] whitespace-nowrap text-accent">
              {changed} set
            </span>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4 border-t border-line p-4">
        <GroupContext.Provider value={id}>{children}</GroupContext.Provider>
      </div>
    </Disclosure>
  )
}
