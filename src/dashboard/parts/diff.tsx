import { useMemo, useState } from 'react'
import { changedPart, diffRows, type DiffRow } from './diff-rows'

interface DiffProps {
  /** Lines of each side. */
  before: readonly string[]
  after: readonly string[]
  /** Labels of the sides: “Here”, “At the provider”. */
  beforeLabel: string
  afterLabel: string
  /** Shown if both sides are empty. */
  emptyText?: string
  /** Number of unchanged lines shown around changes. The others are collapsed. */
  contextLines?: number
}

/**
 * A side-by-side diff by line, for record values, versions, and files. Changes are marked by sign and color.
 * On narrow screens the sides are interleaved line by line.
 */
export function Diff({ before, after, beforeLabel, afterLabel, emptyText = 'Empty', contextLines = 3 }: DiffProps) {
  const rows = useMemo(() => diffRows(before, after), [before, after])
  const [isOpen, setOpen] = useState(false)
  const parts = useMemo(() => (isOpen ? [rows] : partsOf(rows, contextLines)), [rows, contextLines, isOpen])
  return (
    <div className="overflow-clip rounded-md border border-line font-mono text-[13px] leading-5">
      <div className="hidden grid-cols-2 border-b border-line bg-canvas font-sans text-muted sm:grid">
        <span className="px-3 py-1">{beforeLabel}</span>
        <span className="border-l border-line px-3 py-1">{afterLabel}</span>
      </div>
      {rows.length === 0 && <p className="px-3 py-1 font-sans text-muted">{emptyText}</p>}
      {parts.map((part, at) =>
        typeof part === 'number' ? (
          <button
            key={at}
            type="button"
            onClick={() => setOpen(true)}
            className="block w-full bg-canvas px-3 py-1 text-left font-sans text-muted hover:bg-hover"
          >
            Show {part} unchanged lines
          </button>
        ) : (
          <div key={at}>
            {part.map((row, line) => (
              <Row key={line} row={row} labels={[beforeLabel, afterLabel]} />
            ))}
          </div>
        ),
      )}
    </div>
  )
}

function Row({ row: { before, after }, labels }: { row: DiffRow; labels: readonly [string, string] }) {
  const isChanged = before !== after
  const changed = isChanged && before !== null && after !== null ? changedPart(before, after) : null
  return (
    <div className="grid sm:grid-cols-2">
      <Line
        text={before}
        {...(isChanged && before !== null && { sign: '−', label: labels[0], part: changed && [changed[0], changed[1]] })}
        className={before === null ? 'hidden bg-canvas sm:flex' : isChanged ? 'flex bg-bad-soft text-bad' : 'flex'}
      />
      <Line
        text={after}
        {...(isChanged && after !== null && { sign: '+', label: labels[1], part: changed && [changed[0], changed[2]] })}
        className={`border-line sm:border-l ${after === null ? 'hidden bg-canvas sm:flex' : isChanged ? 'flex bg-ok-soft text-ok' : 'hidden sm:flex'}`}
      />
    </div>
  )
}

interface LineProps {
  text: string | null
  /** The part that differs. */
  part?: readonly [from: number, to: number] | null
  sign?: string
  label?: string
  className: string
}

const Line = ({ text, part, sign, label, className }: LineProps) => (
  <div className={`min-w-0 gap-2 px-3 ${className}`}>
    <span aria-hidden className="w-2 shrink-0 select-none">
      {sign}
    </span>
    {label && <span className="sr-only">{label}:</span>}
    <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">
      {text !== null && part ? (
        <>
          {text.slice(0, part[0])}
          <mark className="rounded-xs bg-surface font-bold text-current">{text.slice(part[0], part[1])}</mark>
          {text.slice(part[1])}
        </>
      ) : (
        text
      )}
    </span>
  </div>
)

/** Splits rows into parts to show. Numbers stand for collapsed unchanged rows. */
function partsOf(rows: readonly DiffRow[], around: number): (readonly DiffRow[] | number)[] {
  const near = new Set<number>()
  for (const [at, row] of rows.entries())
    if (row.before !== row.after) for (let one = at - around; one <= at + around; one++) near.add(one)
  const parts: (DiffRow[] | number)[] = []
  for (let at = 0; at < rows.length;) {
    let end = at
    while (end < rows.length && near.has(end) === near.has(at)) end++
    // Collapsing one or two lines saves no space.
    if (near.has(at) || end - at <= 2) parts.push(rows.slice(at, end))
    else parts.push(end - at)
    at = end
  }
  return parts
}
