import { useDeferredValue, useEffect } from 'react'
import type { MonitorProposalView, MonitorTypeView } from '../../../features/monitors/shapes'
import type { Page } from '../../client'
import { FieldFrame, inputLook, useForm } from '../../parts/form'
import { useOne } from '../../queries'

/** What could be watched of the target that is typed: asked of the API while one types. */
export function useProposals(target: string): readonly MonitorProposalView[] {
  const asked = useDeferredValue(target.trim())
  const { data } = useOne<Pick<Page<MonitorProposalView>, 'data'>>(
    asked === '' ? null : '/monitors/proposals',
    { target: asked },
    { keep: true },
  )
  return asked === '' ? [] : (data?.data ?? [])
}

/** What a form that makes a monitor is to check: the proposal or the type that was chosen, or else the likeliest. */
export function chosenOf(values: Record<string, unknown>, proposals: readonly MonitorProposalView[]): string {
  return (values.type as string) || proposals[0]?.type || ''
}

interface ProposalsProps {
  proposals: readonly MonitorProposalView[]
  types: readonly MonitorTypeView[]
}

/** The ways in which the target can be checked, and what else of it can be watched at once. */
export function Proposals({ proposals, types }: ProposalsProps) {
  const { values, set } = useForm()
  const chosen = chosenOf(values, proposals)
  const also = values.also as string[]
  const rest = proposals.filter(one => one.type !== chosen)
  useEffect(() => {
    // What is made besides is of this target; another one has other things beside it.
    const left = also.filter(type => rest.some(one => one.type === type))
    if (left.length < also.length) set({ also: left })
  })
  return (
    <>
      <FieldFrame name="type" label="Type">
        {attributes => (
          <select
            {...attributes}
            value={chosen}
            onChange={event => set({ type: event.target.value })}
            className={`h-9 ${inputLook}`}
          >
            {chosen === '' && <option value="">Told by the target</option>}
            {proposals.length > 0 && (
              <optgroup label="Fits the target">
                {proposals.map(one => (
                  <option key={one.type} value={one.type}>
                    {one.title}: {one.target}
                  </option>
                ))}
              </optgroup>
            )}
            <optgroup label="Others">
              {types
                .filter(type => !proposals.some(one => one.type === type.type))
                .map(type => (
                  <option key={type.type} value={type.type}>
                    {type.title}
                  </option>
                ))}
            </optgroup>
          </select>
        )}
      </FieldFrame>
      <div className="min-h-7">
        {rest.length > 0 && (
          <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <legend className="float-left mr-4 text-muted">Also watch</legend>
            {rest.map(one => (
              <label key={one.type} className="inline-flex items-center gap-1.5" title={one.target}>
                <input
                  type="checkbox"
                  checked={also.includes(one.type)}
                  onChange={event =>
                    set({ also: event.target.checked ? [...also, one.type] : also.filter(type => type !== one.type) })
                  }
                />
                {one.title}
              </label>
            ))}
          </fieldset>
        )}
      </div>
    </>
  )
}
