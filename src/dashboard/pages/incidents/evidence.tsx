import { Json } from '../../parts/json'
import { Card, Facts } from '../../parts/page'
import { wordsOf } from '../../parts/status'

const isPlain = (value: unknown) => value === null || ['string', 'number', 'boolean'].includes(typeof value)

/** What was asked and what came back, at the failure that was confirmed. */
export function Evidence({ evidence }: { evidence: Record<string, unknown> }) {
  const entries = Object.entries(evidence)
  const plain = entries.filter(([, value]) => isPlain(value))
  const rest = entries.filter(([, value]) => !isPlain(value))
  return (
    <Card title="Evidence">
      <Facts
        rows={plain.map(
          ([name, value]) =>
            [wordsOf(name), <span className="font-mono text-[13px] whitespace-pre-wrap">{String(value)}</span>] as const,
        )}
      />
      <div className="mt-3 flex flex-col gap-3 empty:hidden">
        {rest.map(([name, value]) => (
          <Json key={name} label={wordsOf(name)} value={value} />
        ))}
      </div>
    </Card>
  )
}
