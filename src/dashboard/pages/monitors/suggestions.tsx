import { useDeferredValue, useEffect } from 'react'
import type { MonitorSuggestionView, MonitorTypeView } from '../../../features/monitors/shapes'
import type { Page } from '../../client'
import { toggled } from '../../parts/choices'
import { FieldFrame, useForm } from '../../parts/form'
import { Checkbox, Select } from '../../parts/input'
import { useOne } from '../../queries'

/** Suggestions for a target, fetched as the user types. */
export function useSuggestions(target: string): readonly MonitorSuggestionView[] {
  const query = useDeferredValue(target.trim())
  const { data } = useOne<Pick<Page<MonitorSuggestionView>, 'data'>>(
    query === '' ? null : '/monitors/suggestions',
    { target: query },
    { keepPrevious: true },
  )
  return query === '' ? [] : (data?.data ?? [])
}

/** The type selected in the form, or else the best suggestion. */
export function selectedType(values: Record<string, unknown>, suggestions: readonly MonitorSuggestionView[]): string {
  return (values.type as string) || suggestions[0]?.type || ''
}

interface SuggestionsProps {
  suggestions: readonly MonitorSuggestionView[]
  types: readonly MonitorTypeView[]
}

/** A choice of check types for the target, and of additional monitors to create. */
export function Suggestions({ suggestions, types }: SuggestionsProps) {
  const { values, set } = useForm()
  const chosen = selectedType(values, suggestions)
  const also = values.also as string[]
  const rest = suggestions.filter(one => one.type !== chosen)
  useEffect(() => {
    // Deselect additional monitors that don't apply to the target any more.
    const left = also.filter(type => rest.some(one => one.type === type))
    if (left.length < also.length) set({ also: left })
  })
  return (
    <>
      <FieldFrame name="type" label="Type">
        {attributes => (
          <Select {...attributes} value={chosen} onText={text => set({ type: text })}>
            {chosen === '' && <option value="">Detect from target</option>}
            {suggestions.length > 0 && (
              <optgroup label="Suggested">
                {suggestions.map(one => (
                  <option key={one.type} value={one.type}>
                    {one.title}: {one.target}
                  </option>
                ))}
              </optgroup>
            )}
            <optgroup label="Other types">
              {types
                .filter(type => !suggestions.some(one => one.type === type.type))
                .map(type => (
                  <option key={type.type} value={type.type}>
                    {type.title}
                  </option>
                ))}
            </optgroup>
          </Select>
        )}
      </FieldFrame>
      <div className="min-h-7">
        {rest.length > 0 && (
          <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <legend className="float-left mr-4 text-muted">Also monitor</legend>
            {rest.map(one => (
              <Checkbox
                key={one.type}
                title={one.target}
                checked={also.includes(one.type)}
                onCheck={isAlso => set({ also: toggled(also, one.type, isAlso) })}
              >
                {one.title}
              </Checkbox>
            ))}
          </fieldset>
        )}
      </div>
    </>
  )
}
