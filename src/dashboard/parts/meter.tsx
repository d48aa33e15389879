interface MeterProps {
  /** For screen readers. */
  label: string
  value: number
  max: number
  /** Whether more is better, as with points. */
  isGood?: boolean
}

const nearPart = 0.8
const partOf = (value: number, max: number): number => (max === 0 ? 0 : Math.min(value / max, 1))

/** How close something is to its maximum. */
export function usageTone(value: number, max: number | null): 'ok' | 'warn' | 'bad' {
  const part = max === null ? 0 : partOf(value, max)
  return part >= 1 ? 'bad' : part >= nearPart ? 'warn' : 'ok'
}

/** The opposite: how good a number of points is. */
const pointsTone = (value: number, max: number): 'ok' | 'warn' | 'bad' => {
  const part = partOf(value, max)
  return part >= nearPart ? 'ok' : part >= nearPart / 2 ? 'warn' : 'bad'
}

/** A bar that shows how much of a maximum is used or reached. */
export const Meter = ({ label, value, max, isGood }: MeterProps) => (
  <div
    role="meter"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={max}
    aria-valuenow={Math.min(value, max)}
    className="h-1.5 overflow-hidden rounded-full bg-idle-soft"
  >
    <div
      className={`h-full ${{ ok: 'bg-ok-mark', warn: 'bg-warn-mark', bad: 'bg-bad-mark' }[(isGood ? pointsTone : usageTone)(value, max)]}`}
      style={{ width: `${partOf(value, max) * 100}%` }}
    />
  </div>
)
