import { pairsOf, type Choices } from './choices'

interface ToggleGroupProps {
  label: string
  value: string
  onChange(value: string): void
  choices: Choices
  className?: string
}

/** A row of buttons to choose one value. The chosen one is pressed. */
export const ToggleGroup = ({ label, value, onChange, choices, className = '' }: ToggleGroupProps) => (
  <div role="group" aria-label={label} className={`flex flex-wrap gap-1 ${className}`}>
    {pairsOf(choices).map(([one, text]) => (
      <button
        key={one}
        type="button"
        aria-pressed={one === value}
        onClick={() => onChange(one)}
        className="rounded-md px-2.5 py-1 text-[13px] text-muted hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
      >
        {text}
      </button>
    ))}
  </div>
)
