import { hubNow } from '../hub-clock'
import { Button } from './button'
import { ToggleGroup } from './toggle-group'
import { useUrlState } from './url-state'

export const hourMs = 3_600_000

/** Name in the URL, label, and length in milliseconds. */
type Range = readonly [name: string, label: string, lengthMs: number]

export interface TimeRange {
  /** Name of the range that was picked; empty if one was selected in a chart. */
  name: string
  /** Milliseconds since the epoch. */
  begin: number
  end: number
  /** Query parameters of the window. */
  query: { from: string; to?: string }
  /** Lets the user pick a range, and reset a zoom. */
  picker: React.ReactNode
  zoom(from: number, to: number): void
}

/** A time range that ends now and can be picked, or one that was selected in a chart. It is kept in the URL. */
export function useTimeRange(ranges: readonly Range[], initial: string): TimeRange {
  const [{ range, from, to }, set] = useUrlState({ range: initial, from: '', to: '' })
  // Rounded to the minute, so that refetching uses the same query.
  const minute = Math.floor(hubNow() / 60_000) * 60_000
  const length = ranges.find(([name]) => name === range)?.[2] ?? 24 * hourMs
  const isZoomed = from !== '' && to !== ''
  const begin = isZoomed ? Number(from) : minute - length
  return {
    name: isZoomed ? '' : range,
    begin,
    end: isZoomed ? Number(to) : minute + 60_000,
    query: { from: new Date(begin).toISOString(), ...(isZoomed && { to: new Date(Number(to)).toISOString() }) },
    zoom: (a, b) => set({ from: String(Math.round(a)), to: String(Math.round(b)) }),
    picker: (
      <>
        {isZoomed && (
          <Button small kind="quiet" onClick={() => set({ from: '', to: '' })}>
            Reset zoom
          </Button>
        )}
        <ToggleGroup
          label="Range"
          value={isZoomed ? '' : range}
          onChange={name => set({ range: name, from: '', to: '' })}
          choices={ranges.map(([name, label]) => [name, label] as const)}
        />
      </>
    ),
  }
}
