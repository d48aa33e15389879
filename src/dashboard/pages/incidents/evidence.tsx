import { Json } from '../../parts/json'
import { Card, Facts } from '../../parts/page'
import { labelOf } from '../../parts/labels'
import { humanize } from '../../parts/status'

type Plain = string | number | boolean
const isPlain = (value: unknown): value is Plain => ['string', 'number', 'boolean'].includes(typeof value)
const isFlat = (value: unknown): value is Record<string, Plain> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isPlain)

/** Request and response of the confirmed failure, or the conditions that were true. */
export function Evidence({ evidence }: { evidence: Record<string, unknown> }) {
  const entries = Object.entries(evidence).filter(
    ([name, value]) => value !== null && !(name.endsWith('_truncated') && value === false),
  )
  const parts = entries.filter(([, value]) => isFlat(value)) as [string, Record<string, Plain>][]
  const rest = entries.filter(([, value]) => !isPlain(value) && !isFlat(value))
  return (
    <Card title="Evidence">
      <Values of={entries.filter((one): one is [string, Plain] => isPlain(one[1]))} />
      {parts.map(([name, values]) => (
        <section key={name} className="mt-4">
          <h3 className="mb-1 font-medium">{labelOf(name)}</h3>
          <Values of={Object.entries(values)} />
        </section>
      ))}
      <div className="mt-3 flex flex-col gap-3 empty:hidden">
        {rest.map(([name, value]) => (
          <Json key={name} label={humanize(name)} value={value} />
        ))}
      </div>
    </Card>
  )
}

const Values = ({ of }: { of: readonly (readonly [string, Plain])[] }) => (
  <Facts
    rows={of.map(
      ([name, value]) =>
        [labelOf(name), <span className="font-mono text-[13px] whitespace-pre-wrap">{textOf(value)}</span>] as const,
    )}
  />
)

const textOf = (value: Plain): string => (typeof value === 'boolean' ? (value ? 'Yes' : 'No') : String(value))
