import { useDeferredValue, useEffect } from 'react'
import type { MonitorSuggestionView, MonitorTypeView } from '../../../features/monitors/definition/shapes'
import { call, type Call, type Page } from '../../client'
import { toggled } from '../../parts/choices'
import { FieldFrame, useForm } from '../../parts/form'
import { Checkbox, Select } from '../../parts/input'
import { useDryRun, useOne } from '../../queries'

type Suggestions = Pick<Page<MonitorSuggestionView>, 'data'>

interface LoadedSuggestions {
  suggestions: readonly MonitorSuggestionView[]
  /** Whether the hub is asking the server what it speaks. */
  isAsking: boolean
  /** False while the suggestions are those of a previous text, or may still change. */
  isCurrent: boolean
}

const detection = (target: string): Call => ({ method: 'POST', path: '/monitors/detections', body: { target } })

/** Whether only the server knows what it speaks, because its port isn’t a well-known one. */
const isOpen = (target: string, suggestions: readonly MonitorSuggestionView[] | undefined): boolean =>
  suggestions?.[0]?.type === 'tcp' && !target.includes('://')

/** Suggestions for a target, fetched as the user types. For `host:port`, the hub asks the server what it speaks. */
export function useSuggestions(text: string): LoadedSuggestions {
  const target = text.trim()
  const query = useDeferredValue(target)
  const { data, isPlaceholderData } = useOne<Suggestions>(
    query === '' ? null : '/monitors/suggestions',
    { target: query },
    { keepPrevious: true },
  )
  const isLoaded = query === target && data !== undefined && !isPlaceholderData
  const asks = isLoaded && isOpen(target, data.data)
  const asked = useDryRun<Suggestions>(asks ? detection(target) : null)
  const isAsking = asks && !asked.isCurrent && !asked.error
  const found = asks && asked.isCurrent && asked.result ? asked.result : data
  return {
    suggestions: query === '' ? [] : (found?.data ?? []),
    isAsking,
    isCurrent: target === '' || (isLoaded && !isAsking),
  }
}

/** Loads the suggestions for a target, for a form that is submitted before they are shown. */
export async function suggestionsFor(text: string): Promise<readonly MonitorSuggestionView[]> {
  const target = text.trim()
  const { data } = await call<Suggestions>({ method: 'GET', path: '/monitors/suggestions', query: { target } })
  return isOpen(target, data) ? (await call<Suggestions>(detection(target))).data : data
}

/** The type selected in the form, or else the best suggestion. */
export function selectedType(values: Record<string, unknown>, suggestions: readonly MonitorSuggestionView[]): string {
  return (values.type as string) || suggestions[0]?.type || ''
}

interface TypeFieldProps {
  suggestions: readonly MonitorSuggestionView[]
  types: readonly MonitorTypeView[]
}

/** A choice of check types, those that fit the target first. */
export function TypeField({ suggestions, types }: TypeFieldProps) {
  const { values, set } = useForm()
  const chosen = selectedType(values, suggestions)
  return (
    <FieldFrame name="type" label="Type" isPicked>
      {attributes => (
        <Select {...attributes} value={chosen} onText={text => set({ type: text })}>
          {chosen === '' && <option value="">Detect from target</option>}
          {suggestions.length > 0 && (
            <optgroup label="Suggested">
              {suggestions.map(one => (
                <option key={one.type} value={one.type}>
                  {one.title}
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
  )
}

/** The options of a suggested monitor that ignores an error of the certificate. */
export const ignoringCertificate = ({ certificate_error }: MonitorSuggestionView) =>
  certificate_error !== undefined && { options: { verify_tls: false } }

interface CertificateErrorProps {
  /** The suggestion whose error is shown, if it has one. */
  suggestion: MonitorSuggestionView | undefined
  isIgnored: boolean
  onIgnore(isIgnored: boolean): void
}

/** Why the server’s certificate isn’t trusted, with a choice to monitor it nevertheless. */
export const CertificateError = ({ suggestion, isIgnored, onIgnore }: CertificateErrorProps) =>
  suggestion?.certificate_error !== undefined && (
    <div role="note" className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-md bg-warn-soft p-3 text-warn">
      <p>{suggestion.certificate_error} Checks fail until the certificate is trusted.</p>
      <Checkbox checked={isIgnored} onCheck={onIgnore}>
        Don’t verify the certificate
      </Checkbox>
    </div>
  )

/** A choice of additional monitors to create for the target. */
export function AlsoMonitor({ suggestions }: Pick<TypeFieldProps, 'suggestions'>) {
  const { values, set } = useForm()
  const chosen = selectedType(values, suggestions)
  const also = values.also as string[]
  const rest = suggestions.filter(one => one.type !== chosen)
  useEffect(() => {
    // Deselect additional monitors that don't apply to the target anymore.
    const left = also.filter(type => rest.some(one => one.type === type))
    if (left.length < also.length) set({ also: left })
  })
  if (rest.length === 0) return null
  return (
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
  )
}
